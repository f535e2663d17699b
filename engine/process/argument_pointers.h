/// Converts strings to the form that system calls for starting processes take.
#pragma once

#include <string>
#include <vector>

namespace kernelskill::engine {

/// Pointers to `texts`, which must outlive them, with a null pointer at the end.
[[nodiscard]] inline std::vector<char*> argumentPointers(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (auto& text : texts)
        pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

} // namespace kernelskill::engine
