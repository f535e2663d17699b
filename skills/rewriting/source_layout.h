/// The file's own way of breaking and indenting lines, and text built in it.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/source/source_text.h"
#include "analysis/source/text_edit.h"

#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::skills {

class SourceLayout {
public:
    SourceLayout(const analysis::SourceText& source, const analysis::KernelModel& kernel);

    [[nodiscard]] const std::string& newline() const { return newline_; }
    /// One level of indentation inside the kernel, e.g. four spaces or a tab.
    [[nodiscard]] const std::string& unit() const { return unit_; }
    /// Indentation of the line that holds `offset`.
    [[nodiscard]] std::string indentation(std::uint32_t offset) const;
    /// Start of the line that holds `offset`.
    [[nodiscard]] std::uint32_t lineBegin(std::uint32_t offset) const;
    /// Start of the line behind that one.
    [[nodiscard]] std::uint32_t lineAfter(std::uint32_t offset) const;
    /// True if only white space stands before `offset` on its line.
    [[nodiscard]] bool startsLine(std::uint32_t offset) const;
    /// True if only white space and comments follow `offset` on its line.
    [[nodiscard]] bool endsLine(std::uint32_t offset) const;
    /// End of that line, before its line end, if endsLine(); else `offset`.
    [[nodiscard]] std::uint32_t endOfLineTrivia(std::uint32_t offset) const;
    /// The span to delete so that a statement goes with its line, or alone when it shares the line.
    [[nodiscard]] analysis::Span statementWithLine(analysis::Span statement) const;
    /// Edits that move every non-blank line of `span` one level to the right, its first line
    /// excepted.
    [[nodiscard]] std::vector<analysis::TextEdit> indented(analysis::Span span) const;

private:
    [[nodiscard]] std::uint32_t lineEnd(std::uint32_t offset) const;

    const analysis::SourceText& source_;
    std::string newline_;
    std::string unit_;
};

/// Lines with their indentation, joined in the file's style. Every line ends with a line end.
class CodeLines {
public:
    CodeLines(const SourceLayout& layout, std::string indentation)
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
    const SourceLayout& layout_;
    std::string indentation_;
    std::string text_;
};

/// The text of `span` with parts of it replaced. `parts` lie in the span and do not overlap.
[[nodiscard]] std::string rewritten(const analysis::SourceText& source, analysis::Span span,
                                    std::vector<analysis::TextEdit> parts);

/// Comments of `span`, each as written, in order.
[[nodiscard]] std::vector<std::string> commentsIn(const analysis::SourceText& source,
                                                  analysis::Span span);

} // namespace kernelskill::skills
