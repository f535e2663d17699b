#include "analysis/queries/code_map.h"
#include "analysis/queries/value_spelling.h"
#include "analysis/syntax/lexer.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/operand_text.h"
#include "skills/gates/host_launches.h"
#include "skills/launch-specialization/specialize.h"
#include "skills/schedule/fold_text.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The template argument that stands for any value, where 0 is a value that launches pass.
constexpr std::int64_t noValue = -1;

class SpecialWriter {
public:
    SpecialWriter(Draft& draft, const SkillContext& context, const Specialization& found)
        : draft_(draft), context_(context), kernel_(context.kernel), source_(*context.file.source),
          found_(found) {
        for (std::size_t i = 0; i < found.parameters.size(); ++i)
            general_.push_back(mayBeZero(i) ? noValue : 0);
    }

    void write() {
        std::vector<std::string> head;
        for (std::size_t i = 0; i < found_.parameters.size(); ++i) {
            const Parameter& parameter = kernel_.parameters[found_.parameters[i]];
            names_.push_back(found_.isDirect ? parameter.name
                                             : freshName(kernel_.body, joinedName(context_, "known",
                                                                                  parameter.name)));
            head.push_back((found_.isDirect ? valueSpelling(parameter.type) : "int") + " " +
                           names_.back());
        }
        writeHead(fmt::format("{}", fmt::join(head, ", ")));
        for (const StmtId loop : found_.unrolled)
            draft_.before(loop, {"#pragma unroll"});
        if (found_.isDirect)
            writeDirect();
        else
            writeChoice();
    }

private:
    [[nodiscard]] bool mayBeZero(std::size_t index) const {
        return std::ranges::any_of(found_.launches, [&](const SpecialLaunch& launch) {
            return launch.values[index] && launch.values[index]->value == 0;
        });
    }

    void writeHead(const std::string& parameters) {
        const std::uint32_t begin = kernel_.span.begin;
        const std::vector<Token> head = lex(source_.text(), {begin, kernel_.nameSpan.begin});
        if (!kernel_.templateParameters.empty()) {
            insert(head[1].span.end, parameters + ", ");
            return;
        }
        const SourceLayout& layout = draft_.layout();
        insert(begin, fmt::format("template <{}>{}{}", parameters, layout.newline(),
                                  layout.indentation(begin)));
    }

    void writeDirect() {
        std::vector<Span> parameters;
        for (const Parameter& parameter : kernel_.parameters)
            parameters.push_back(parameter.span);
        removeFrom(parameters);
        for (const SpecialLaunch& each : found_.launches) {
            const LaunchSite& launch = kernel_.launches[each.launch];
            std::vector<std::string> arguments;
            for (const std::uint32_t parameter : found_.parameters)
                arguments.push_back(argumentText(launch, parameter));
            addTo(launchName(launch, arguments));
            removeFrom(launch.argumentSpans);
        }
    }

    void writeChoice() {
        for (std::size_t i = 0; i < found_.parameters.size(); ++i) {
            const Parameter& parameter = kernel_.parameters[found_.parameters[i]];
            for (const Token& token : lex(source_.text(), parameter.span))
                if (token.is("const"))
                    draft_.replace({token.span.begin, skipTrivia(source_.text(), token.span.end)},
                                   {});
            skills::writeHead(
                draft_, context_,
                draft_.controlled(
                    fmt::format("if ({} {} 0)", names_[i], general_[i] == 0 ? ">" : ">="),
                    {fmt::format("{} = {};", parameter.name, names_[i])}));
        }
        for (const SpecialLaunch& each : found_.launches)
            writeChosenLaunch(each);
    }

    void writeChosenLaunch(const SpecialLaunch& each) {
        const LaunchSite& launch = kernel_.launches[each.launch];
        std::vector<std::string> general;
        std::vector<std::string> special;
        std::vector<std::string> conditions;
        for (std::size_t i = 0; i < found_.parameters.size(); ++i) {
            const std::uint32_t parameter = found_.parameters[i];
            general.push_back(std::to_string(general_[i]));
            if (!each.isKnown())
                continue;
            const KnownArgument& known = *each.values[i];
            special.push_back(known.isConstant ? argumentText(launch, parameter)
                                               : std::to_string(known.value));
            const Expr& argument =
                context_.file.hostFunctions[launch.host].body.expr(launch.arguments[parameter]);
            std::string condition =
                fmt::format("{} == {}", besideComparison(source_, argument), known.value);
            // One variable may be passed for both.
            if (!known.isConstant && std::ranges::find(conditions, condition) == conditions.end())
                conditions.push_back(std::move(condition));
        }
        if (conditions.empty())
            return addTo(launchName(launch, each.isKnown() ? special : general));
        const Span statement = context_.file.hostFunctions[launch.host]
                                   .body.stmt(launchStatement(context_, launch))
                                   .span;
        const SourceLayout& layout = draft_.layout();
        const std::string indentation = layout.indentation(statement.begin);
        const auto instance = [&](const std::vector<std::string>& arguments) {
            return layout.unit() +
                   deeper(rewritten(source_, statement, launchName(launch, arguments)));
        };
        const std::string line = layout.newline() + indentation;
        draft_.replace(statement,
                       fmt::format("if ({}){}{}{}else{}{}", fmt::join(conditions, " && "), line,
                                   instance(special), line, line, instance(general)));
    }

    /// Lines after the first one level deeper.
    [[nodiscard]] std::string deeper(std::string text) const {
        const std::string& unit = draft_.layout().unit();
        for (auto at = text.find('\n'); at != std::string::npos;
             at = text.find('\n', at + 1 + unit.size()))
            text.insert(at + 1, unit);
        return text;
    }

    [[nodiscard]] std::string argumentText(const LaunchSite& launch,
                                           std::uint32_t parameter) const {
        std::string text(source_.slice(launch.argumentSpans[parameter]));
        return text.contains('>') ? "(" + text + ")" : text;
    }

    /// The edit that puts these template arguments in front of those of the launch.
    [[nodiscard]] std::vector<TextEdit> launchName(const LaunchSite& launch,
                                                   const std::vector<std::string>& given) const {
        const std::string arguments = fmt::format("{}", fmt::join(given, ", "));
        const std::vector<Token> name =
            lex(source_.text(), {launch.span.begin, launch.configurationSpan.begin});
        const auto open = std::ranges::find(name, std::string_view("<"), &Token::text);
        if (open != name.end())
            return {{{open->span.end, open->span.end}, arguments + ", "}};
        const std::uint32_t at = name.back().span.end;
        return {{{at, at}, "<" + arguments + ">"}};
    }

    void addTo(const std::vector<TextEdit>& edits) {
        for (const TextEdit& edit : edits)
            draft_.replace(edit.span, edit.newText);
    }

    void insert(std::uint32_t at, std::string text) { draft_.replace({at, at}, std::move(text)); }

    /// Removes the specialised parameters, or their arguments, from a list with commas.
    void removeFrom(const std::vector<Span>& parts) {
        const auto isRemoved = [&](std::size_t part) {
            return std::ranges::find(found_.parameters, part) != found_.parameters.end();
        };
        for (std::size_t first = 0; first < parts.size(); ++first) {
            if (!isRemoved(first))
                continue;
            std::size_t last = first;
            while (last + 1 < parts.size() && isRemoved(last + 1))
                ++last;
            if (last + 1 < parts.size())
                draft_.replace({parts[first].begin, parts[last + 1].begin}, {});
            else // The comment behind it goes, too.
                draft_.replace({first == 0 ? parts[0].begin : parts[first - 1].end,
                                skipTrivia(source_.text(), parts[last].end)},
                               {});
            first = last;
        }
    }

    Draft& draft_;
    const SkillContext& context_;
    const KernelModel& kernel_;
    const SourceText& source_;
    const Specialization& found_;
    std::vector<std::int64_t> general_; ///< The template arguments that stand for any value.
    std::vector<std::string> names_;    ///< The names of the template parameters.
};

} // namespace

void specialize(Draft& draft, const SkillContext& context, const Specialization& found) {
    SpecialWriter(draft, context, found).write();
}

} // namespace kernelskill::skills
