#include "analysis/queries/value_spelling.h"

#include <algorithm>
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

std::string elementSpelling(const Type& array) {
    std::string text = valueSpelling(array);
    text.resize(std::min(text.size(), text.find('[')));
    while (text.ends_with(' '))
        text.pop_back();
    return text;
}

std::string literalOf(int number, ScalarKind scalar) {
    const std::string digits = std::to_string(number);
    if (scalar == ScalarKind::Float)
        return digits + ".0f";
    return scalar == ScalarKind::Double ? digits + ".0" : digits;
}

} // namespace kernelskill::analysis
