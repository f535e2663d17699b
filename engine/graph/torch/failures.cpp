#include "engine/graph/torch/failures.h"

#include <algorithm>

namespace kernelskill::engine::graph {

std::string firstWords(const char* message) {
    constexpr std::size_t maxBytes = 300;
    std::string words(message);
    // The rest names lines of LibTorch, which tell users nothing.
    if (const auto place = words.find("\nException raised from"); place != std::string::npos)
        words.resize(place);
    if (words.size() > maxBytes)
        words.resize(maxBytes);
    std::ranges::replace(words, '\n', ' ');
    while (words.ends_with(' ') || words.ends_with('.'))
        words.pop_back();
    return words;
}

} // namespace kernelskill::engine::graph
