/// What several skills ask about one kernel and its file, worked out once.
#pragma once

#include "analysis/syntax/lexer.h"
#include "skills/patterns/pattern_matcher.h"
#include "skills/rewriting/code_map.h"

#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace kernelskill::skills {

/// Each answer is made when it is first asked for. Keeps references to both models; for one thread.
class SharedAnalysis {
public:
    SharedAnalysis(const analysis::FileModel& file, const analysis::KernelModel& kernel)
        : file_(file), kernel_(kernel) {}

    /// Of the kernel's body.
    [[nodiscard]] const CodeMap& code() const;
    /// Of a function of FileModel::hostFunctions.
    [[nodiscard]] const CodeMap& host(std::uint32_t function) const;
    /// Of the whole main file. Its cost grows with the file, not with the kernel: ask only when
    /// occurrences() leaves a doubt.
    [[nodiscard]] const std::vector<analysis::Token>& tokens() const;
    /// Of the kernel's body, for skills that are patterns.
    [[nodiscard]] const PatternMatcher& patterns() const;

private:
    const analysis::FileModel& file_;
    const analysis::KernelModel& kernel_;
    mutable std::optional<CodeMap> code_;
    mutable std::map<std::uint32_t, CodeMap> hosts_;
    mutable std::optional<std::vector<analysis::Token>> tokens_;
    mutable std::optional<PatternMatcher> patterns_;
};

/// Every place where `text` has `word` as a whole identifier, in comments and literals too.
[[nodiscard]] std::vector<analysis::Span> occurrences(std::string_view text, std::string_view word);

} // namespace kernelskill::skills
