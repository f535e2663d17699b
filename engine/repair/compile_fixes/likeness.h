/// Measures how similar a piece of code is to the rest of its file. People write the same thing in
/// the same way, so a bracket more likely belongs where it repeats known text.
#pragma once

#include "analysis/source/text_edit.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace kernelskill::engine {

class Likeness {
public:
    /// Uses `text` without the statements around the byte `offset`, which contain the mistake.
    Likeness(std::string_view text, std::uint32_t offset);

    /// The similarity of the edited text around its edits: token sequences that occur elsewhere
    /// count, longer ones more. Only comparable for edits at one place.
    [[nodiscard]] std::size_t of(std::string_view edited,
                                 const std::vector<analysis::TextEdit>& edits) const;

private:
    std::unordered_set<std::uint64_t> sequences_;
};

} // namespace kernelskill::engine
