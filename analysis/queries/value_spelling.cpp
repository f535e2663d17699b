#include "analysis/queries/value_spelling.h"

#include <string_view>

namespace kernelskill::analysis {

std::string valueSpelling(const Type& type) {
    std::string text = type.spelling;
    for (const std::string_view word : {"const ", "volatile "})
        if (text.starts_with(word))
            text.erase(0, word.size());
    if (text.ends_with(" const"))
        text.resize(text.size() - 6);
    return text;
}

} // namespace kernelskill::analysis
