/// Code as text in the file's own way of breaking and indenting lines.
#pragma once

#include "analysis/queries/source_layout.h"
#include "analysis/source/source_text.h"
#include "analysis/source/text_edit.h"

#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::skills {

/// Lines with their indentation, joined in the file's style. Every line ends with a line end.
class CodeLines {
public:
    CodeLines(const analysis::SourceLayout& layout, std::string indentation)
        : layout_(layout), indentation_(std::move(indentation)) {}

    CodeLines& add(std::string_view line);
    /// Adds the lines of `text`, whose lines after the first are indented by `from`, at the current
    /// level.
    CodeLines& addBlock(std::string_view text, std::string_view from);
    CodeLines& open(std::string_view line); ///< The line, then one level deeper.
    CodeLines&
    close(std::string_view line = "}"); ///< One level back, then the line, which may open again.
    CodeLines& leave();                 ///< One level back.
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    const analysis::SourceLayout& layout_;
    std::string indentation_;
    std::string text_;
};

/// The text of `span` with parts of it replaced. `parts` lie in the span and do not overlap.
[[nodiscard]] std::string rewritten(const analysis::SourceText& source, analysis::Span span,
                                    std::vector<analysis::TextEdit> parts);

} // namespace kernelskill::skills
