/// The file's own way of breaking and indenting lines.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/source/source_text.h"
#include "analysis/source/text_edit.h"

#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::analysis {

class SourceLayout {
public:
    SourceLayout(const SourceText& source, const KernelModel& kernel);

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
    [[nodiscard]] Span statementWithLine(Span statement) const;
    /// Edits that move every non-blank line of `span` one level to the right, its first line
    /// excepted.
    [[nodiscard]] std::vector<TextEdit> indented(Span span) const;

private:
    [[nodiscard]] std::uint32_t lineEnd(std::uint32_t offset) const;

    const SourceText& source_;
    std::string newline_;
    std::string unit_;
};

/// Returns where a statement begins; for a loop with a pragma, where the pragma does.
[[nodiscard]] inline std::uint32_t beginWithPragma(const Stmt& statement) {
    return statement.pragma.empty() ? statement.span.begin : statement.pragmaSpan.begin;
}

/// Comments of `span`, each as written, in order.
[[nodiscard]] std::vector<std::string> commentsIn(const SourceText& source, Span span);

} // namespace kernelskill::analysis
