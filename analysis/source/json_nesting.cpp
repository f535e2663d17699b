#include "analysis/source/json_nesting.h"

namespace kernelskill::analysis {

bool isNestedTooDeeply(std::string_view json) {
    std::size_t open = 0;
    bool inString = false;
    for (std::size_t i = 0; i < json.size(); ++i) {
        const char c = json[i];
        if (inString && c == '\\')
            ++i;
        else if (c == '"')
            inString = !inString;
        else if (!inString && (c == '[' || c == '{') && ++open > maxJsonNesting)
            return true;
        else if (!inString && open > 0 && (c == ']' || c == '}'))
            --open;
    }
    return false;
}

} // namespace kernelskill::analysis
