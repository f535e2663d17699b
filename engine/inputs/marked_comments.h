/// Finds comments that are meant for KernelSkill: `// kernelskill: ...`.
#pragma once

#include "analysis/source/source_text.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// Stands at the beginning of such a comment.
inline constexpr std::string_view commentMarker = "kernelskill:";

struct MarkedComment {
    analysis::Span span;      ///< The whole comment.
    std::uint32_t marker = 0; ///< The offset of the marker in the file.
    /// The text behind the marker. Delimiters of the comment and the stars of a block comment are
    /// blanked.
    std::string text;

    /// Whether it names findings to ignore, and so is no launch pin.
    [[nodiscard]] bool ignoresFindings() const;
};

[[nodiscard]] std::vector<MarkedComment> markedComments(std::string_view text);

} // namespace kernelskill::engine
