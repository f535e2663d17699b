/// How much a piece of code is like the rest of its file: people write the same thing in the same
/// way, so that of two places where a bracket may go the one that repeats known text is likelier.
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
    /// Of `text` without the statements around the byte `offset`, where the mistake is.
    Likeness(std::string_view text, std::uint32_t offset);

    /// Of the edited text around its edits: sequences of tokens that occur elsewhere, the longer
    /// the more. Only good for comparing edits of one place.
    [[nodiscard]] std::size_t of(std::string_view edited,
                                 const std::vector<analysis::TextEdit>& edits) const;

private:
    std::unordered_set<std::uint64_t> sequences_;
};

} // namespace kernelskill::engine
