#include "engine/inputs/launch_sites.h"

#include "engine/inputs/kernel_names.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace kernelskill::engine {

using analysis::Token;

namespace {

using Range = SiteText::Range;

/// Reads the launches of one file.
class SiteReader {
public:
    SiteReader(const ProgramText& program, std::size_t file, const analysis::KernelModel& kernel)
        : program_(program), file_(file), tokens_(program.files()[file].tokens), kernel_(kernel) {}

    /// The launch whose kernel's name stands at `name`, if it is one.
    [[nodiscard]] std::optional<SiteText> at(std::size_t name) const {
        SiteText site;
        site.place = {file_, name, program_.functionAt(file_, name)};
        auto next = name + 1;
        if (next < tokens_.size() && tokens_[next].is("<")) {
            const auto close = matchingAngle(tokens_, next);
            if (close == next)
                return std::nullopt;
            site.templateArguments = program_.listBetween(file_, next, close);
            next = close + 1;
        }
        const bool isLaunch = next < tokens_.size() && tokens_[next].is("<<<")
                                  ? readBrackets(site, next)
                                  : readCall(site, name);
        if (!isLaunch || site.configuration.size() < 2 ||
            site.arguments.size() > kernel_.parameters.size())
            return std::nullopt;
        return site;
    }

private:
    [[nodiscard]] bool readBrackets(SiteText& site, std::size_t open) const {
        auto close = open;
        while (close < tokens_.size() && !tokens_[close].is(">>>") && !tokens_[close].is(";"))
            ++close;
        if (close + 1 >= tokens_.size() || !tokens_[close].is(">>>") || !tokens_[close + 1].is("("))
            return false;
        site.configuration = program_.listBetween(file_, open, close);
        site.arguments =
            program_.listBetween(file_, close + 1, matchingBracket(tokens_, close + 1));
        return true;
    }

    /// The bracket of the call `cudaLaunch…(` around `name`.
    [[nodiscard]] std::optional<std::size_t> callAround(std::size_t name) const {
        int depth = 0;
        for (auto i = name; i-- > 1;) {
            if (tokens_[i].is(";") || tokens_[i].is("{") || tokens_[i].is("}"))
                return std::nullopt;
            if (tokens_[i].is(")"))
                ++depth;
            else if (tokens_[i].is("(") && depth > 0)
                --depth;
            else if (tokens_[i].is("(") && tokens_[i - 1].text.starts_with("cudaLaunch"))
                return i;
        }
        return std::nullopt;
    }

    [[nodiscard]] bool readCall(SiteText& site, std::size_t name) const {
        const auto open = callAround(name);
        if (!open)
            return false;
        const auto arguments = program_.listBetween(file_, *open, matchingBracket(tokens_, *open));
        const std::string_view function = tokens_[*open - 1].text;
        if (function == "cudaLaunchKernelEx" && arguments.size() >= 2 &&
            holds(arguments[1], name)) {
            site.configuration = configurationOf(arguments[0], *open);
            site.arguments.assign(arguments.begin() + 2, arguments.end());
            return true;
        }
        const bool byArray =
            function == "cudaLaunchKernel" || function == "cudaLaunchCooperativeKernel";
        if (!byArray || arguments.size() < 4 || !holds(arguments[0], name))
            return false;
        site.configuration = {arguments[1], arguments[2]};
        if (arguments.size() > 4)
            site.configuration.push_back(arguments[4]);
        site.arguments = pointedTo(arguments[3], *open);
        return true;
    }

    static bool holds(Range range, std::size_t token) {
        return range.first <= token && token < range.second;
    }

    /// The variable that `args`, `&config` or `(void**)args` names.
    [[nodiscard]] std::string_view variableIn(Range range) const {
        for (auto i = range.second; i-- > range.first;)
            if (tokens_[i].isIdentifier())
                return tokens_[i].text;
        return {};
    }

    [[nodiscard]] std::size_t functionBegin(std::size_t token) const {
        const auto* function = program_.functionAt(file_, token);
        return function == nullptr ? 0 : function->bodyBegin;
    }

    [[nodiscard]] std::size_t endOfStatement(std::size_t token) const {
        while (token < tokens_.size() && !tokens_[token].is(";"))
            ++token;
        return token;
    }

    /// The variables that the elements of `void* args[] = {&a, (void*)&b}`, or of `args[0] = &a;`,
    /// point to.
    [[nodiscard]] std::vector<Range> pointedTo(Range array, std::size_t call) const {
        std::vector<Range> result;
        const auto name = variableIn(array);
        for (auto i = functionBegin(call); i + 4 < call; ++i) {
            if (!tokens_[i].is(name) || !tokens_[i + 1].is("["))
                continue;
            const auto close = matchingBracket(tokens_, i + 1);
            if (close + 2 >= call || !tokens_[close + 1].is("="))
                continue;
            if (tokens_[close + 2].is("{")) {
                result.clear();
                for (const auto& element :
                     program_.listBetween(file_, close + 2, matchingBracket(tokens_, close + 2)))
                    result.push_back(target(element));
            } else if (close == i + 3) {
                const auto index =
                    std::strtoull(std::string(tokens_[i + 2].text).c_str(), nullptr, 10);
                if (index >= kernel_.parameters.size())
                    continue;
                result.resize(std::max<std::size_t>(result.size(), index + 1));
                result[index] = target({close + 2, endOfStatement(close + 2)});
            }
        }
        return result;
    }

    /// `x` of `&x` and `(void*)&x`; empty when the element is no address that is taken here.
    [[nodiscard]] Range target(Range element) const {
        auto begin = element.first;
        while (begin < element.second && !tokens_[begin].is("&"))
            ++begin;
        if (begin == element.second)
            return {};
        ++begin;
        auto end = begin;
        for (int depth = 0; end < element.second; ++end) {
            depth += tokens_[end].is("(") ? 1 : tokens_[end].is(")") ? -1 : 0;
            if (depth < 0)
                break;
        }
        return {begin, end};
    }

    /// Grid, block and shared bytes as the function last assigned or initialised them.
    [[nodiscard]] std::vector<Range> configurationOf(Range argument, std::size_t call) const {
        const auto name = variableIn(argument);
        std::vector<Range> result;
        const auto set = [&](std::size_t slot, Range value) {
            result.resize(std::max(result.size(), slot + 1));
            result[slot] = value;
        };
        for (auto i = functionBegin(call); i + 4 < call; ++i) {
            if (!tokens_[i].is(name))
                continue;
            const auto brace = tokens_[i + 1].is("=") ? i + 2 : i + 1;
            if (tokens_[brace].is("{")) {
                result = program_.listBetween(file_, brace, matchingBracket(tokens_, brace));
                if (result.size() > 3)
                    result.resize(3);
            } else if (tokens_[i + 1].is(".") && tokens_[i + 3].is("=")) {
                const Range value{i + 4, endOfStatement(i + 4)};
                if (tokens_[i + 2].is("gridDim"))
                    set(0, value);
                else if (tokens_[i + 2].is("blockDim"))
                    set(1, value);
                else if (tokens_[i + 2].is("dynamicSmemBytes"))
                    set(2, value);
            }
        }
        return result;
    }

    const ProgramText& program_;
    std::size_t file_;
    const std::vector<Token>& tokens_;
    const analysis::KernelModel& kernel_;
};

} // namespace

std::vector<SiteText> findLaunchSites(const ProgramText& program, const analysis::FileModel& file,
                                      const analysis::KernelModel& kernel) {
    std::vector<SiteText> result;
    const auto lineOf = [&](std::size_t f, std::size_t token) {
        const auto& text = program.files()[f];
        return 1 + static_cast<std::uint32_t>(std::count(
                       text.text.begin(), text.text.begin() + text.tokens[token].span.begin, '\n'));
    };
    for (std::size_t f = 0; f < program.files().size(); ++f) {
        const auto& text = program.files()[f];
        const SiteReader reader(program, f, kernel);
        for (const std::size_t i : text.tokensNamed(kernel.name)) {
            auto site = reader.at(i);
            if (!site)
                continue;
            site->line = lineOf(f, i);
            for (const auto& candidate : kernel.launches) {
                const bool here = candidate.host < file.hostFunctions.size() &&
                                  file.hostFunctions[candidate.host].file == text.path &&
                                  candidate.span.contains(text.tokens[i].span.begin);
                if (here)
                    site->site = &candidate;
            }
            result.push_back(std::move(*site));
        }
    }
    for (const KernelName& name : otherNamesOf(program, kernel.name)) {
        const std::size_t f = name.function->file;
        const SiteReader reader(program, f, kernel);
        for (const std::size_t i : program.files()[f].tokensNamed(name.name)) {
            if (i < name.from || i >= name.to)
                continue;
            auto site = reader.at(i);
            if (!site)
                continue;
            site->line = lineOf(f, i);
            if (site->templateArguments.empty())
                site->templateArguments = name.templateArguments;
            site->call = name.call;
            result.push_back(std::move(*site));
        }
    }
    return result;
}

} // namespace kernelskill::engine
