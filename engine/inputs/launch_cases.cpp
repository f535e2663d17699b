#include "engine/inputs/launch_cases.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelskill::engine {
namespace {

using analysis::Token;
using Cases = std::map<std::string, std::int64_t>;

class CaseReader {
public:
    CaseReader(const ProgramText& program, const SiteText& site, const EvaluationSettings& strict)
        : site_(site), tokens_(program.files()[site.place.file].tokens),
          scope_(program, site.place, strict), first_(site.place.function->bodyBegin) {}

    Cases read() {
        auto begin = site_.place.token;
        while (begin > first_ + 2 && tokens_[begin - 1].is("::"))
            begin -= 2;
        addCondition(begin);
        std::optional<std::int64_t> label;
        int depth = 0;
        for (auto i = site_.place.token; i-- > first_ + 4;) {
            if (tokens_[i].is("}")) {
                ++depth;
            } else if (tokens_[i].is("{") && depth > 0) {
                --depth;
            } else if (tokens_[i].is("{")) {
                const bool onName = tokens_[i - 1].is(")") && tokens_[i - 2].isIdentifier() &&
                                    tokens_[i - 3].is("(") && tokens_[i - 4].is("switch");
                if (onName && label)
                    cases_.emplace(tokens_[i - 2].text, *label);
                label.reset();
                addCondition(i);
            } else if (depth == 0 && !label && tokens_[i].is("case")) {
                auto end = i + 1;
                while (end < site_.place.token && !tokens_[end].is(":"))
                    ++end;
                if (const auto value = scope_.value(i + 1, end))
                    label = value->asInteger();
            }
        }
        return std::move(cases_);
    }

private:
    /// If an `if (…)` ends before `begin`, adds the values of arguments that its conjuncts state.
    void addCondition(std::size_t begin) {
        if (begin <= first_ + 1 || !tokens_[begin - 1].is(")"))
            return;
        auto open = begin - 1;
        for (int depth = 1; depth > 0 && open > first_;) {
            --open;
            depth += tokens_[open].is(")") ? 1 : tokens_[open].is("(") ? -1 : 0;
        }
        if (open <= first_ || !tokens_[open - 1].is("if"))
            return;
        std::vector<SiteText::Range> parts;
        auto part = open + 1;
        int depth = 0;
        for (auto i = part; i < begin; ++i) {
            const bool isEnd = depth == 0 && (tokens_[i].is("&&") || i == begin - 1);
            depth += tokens_[i].is("(") ? 1 : tokens_[i].is(")") ? -1 : 0;
            if (depth == 0 && tokens_[i].is("||"))
                return;
            if (!isEnd)
                continue;
            parts.emplace_back(part, i);
            part = i + 1;
        }
        for (const auto& [from, to] : parts)
            addComparison(from, to);
    }

    /// `name == value`, of an argument.
    void addComparison(std::size_t from, std::size_t to) {
        if (to < from + 3 || !tokens_[from].isIdentifier() || !tokens_[from + 1].is("==") ||
            !isArgument(tokens_[from].text))
            return;
        if (const auto value = scope_.value(from + 2, to))
            cases_.emplace(tokens_[from].text, value->asInteger());
    }

    [[nodiscard]] bool isArgument(std::string_view name) const {
        return std::ranges::any_of(site_.arguments, [&](const SiteText::Range& argument) {
            return argument.second == argument.first + 1 && tokens_[argument.first].text == name;
        });
    }

    const SiteText& site_;
    const std::vector<Token>& tokens_;
    HostScope scope_;
    std::size_t first_; ///< The token of the brace that opens the function.
    Cases cases_;
};

} // namespace

Cases launchCases(const ProgramText& program, const SiteText& site,
                  const EvaluationSettings& strict) {
    return site.place.function == nullptr ? Cases{} : CaseReader(program, site, strict).read();
}

} // namespace kernelskill::engine
