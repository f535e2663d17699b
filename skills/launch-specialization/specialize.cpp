#include "skills/launch-specialization/specialize.h"

#include "analysis/queries/loop_effects.h"
#include "analysis/source/try.h"
#include "analysis/syntax/lexer.h"
#include "skills/base/gates.h"
#include "skills/gates/host_launches.h"
#include "skills/gates/launch_sites.h"
#include "skills/launch-specialization/special_reasons.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Savings in instructions of a thread below which no difference in time is expected.
constexpr double minWeight = 40;
constexpr double minLoopWeight = 20;
/// Nested loops are unrolled as long as their rounds, multiplied, are at most so many.
constexpr std::int64_t maxCopies = 64;

bool isIntegral(const Type& type) {
    return type.scalar >= ScalarKind::Bool && type.scalar <= ScalarKind::UInt64 &&
           type.lanes == 1 && type.pointerDepth == 0 && !type.isReference && !type.isDependent &&
           type.arrayExtents.empty();
}

/// Whether the type is a built-in one and no enumeration.
bool isPlainInteger(const Type& type) {
    const std::vector<Token> words = lex(type.canonical);
    constexpr std::array<std::string_view, 8> builtin = {"const", "int",   "unsigned", "signed",
                                                         "long",  "short", "bool",     "char"};
    return std::ranges::all_of(words, [&](const Token& word) {
        return std::ranges::find(builtin, word.text) != builtin.end();
    });
}

/// Whether the kernel is declared in `extern "C"`, where no template is allowed.
bool hasCLinkage(const SkillContext& context) {
    if (!context.file.source->text().contains("extern"))
        return false;
    const std::vector<Token>& tokens = context.shared().tokens();
    for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
        if (!tokens[i].is("extern") || tokens[i + 1].text != "\"C\"")
            continue;
        std::size_t end = i + 2;
        if (tokens[end].is("{"))
            end = matchingBracket(tokens, end);
        else
            while (end < tokens.size() && !tokens[end].is("{") && !tokens[end].is(";"))
                ++end;
        const std::uint32_t stop =
            end < tokens.size() ? tokens[end].span.begin : tokens.back().span.end;
        if (tokens[i].span.begin <= context.kernel.nameSpan.begin &&
            context.kernel.nameSpan.begin < stop)
            return true;
    }
    return false;
}

Gated<void> requireTemplateHead(const SkillContext& context) {
    const KernelModel& kernel = context.kernel;
    const auto isSame = [&](const KernelModel& other) {
        return &other != &kernel && other.name == kernel.name;
    };
    if (std::ranges::any_of(context.file.kernels, isSame))
        return refuse("overloaded", fmt::format("several kernels have the name {}", kernel.name));
    if (hasCLinkage(context))
        return refuse(
            "c-linkage",
            fmt::format("{} is declared in extern \"C\", where no template may be", kernel.name));
    if (!forwardDeclarations(context).empty())
        return refuse("declared-before",
                      fmt::format("{} is declared before it is defined, and that declaration would "
                                  "have to become a template as well",
                                  kernel.name));
    if (const auto file = fileThatDeclares(context))
        return refuse("declared-before", fmt::format("{} declares {} as well", *file, kernel.name));
    if (kernel.templateParameters.empty())
        return {};
    const std::vector<Token> head =
        lex(context.file.source->text(), {kernel.span.begin, kernel.nameSpan.begin});
    const bool isPlain =
        head.size() > 2 && head[0].is("template") && head[1].is("<") && !head[2].is(">");
    if (!isPlain || std::ranges::count(head, std::string_view("template"), &Token::text) != 1)
        return refuse("template-head",
                      fmt::format("the template head of {} is not a plain list", kernel.name));
    return {};
}

class SpecialPlanner {
public:
    explicit SpecialPlanner(const SkillContext& context)
        : context_(context), kernel_(context.kernel), code_(context.code()) {}

    Gated<Specialization> plan() {
        if (kernel_.launches.empty())
            return refuse("no-launch", kernel_.name + " is not launched in this file");
        KERNELSKILL_TRY(const auto scalars, scalarParameters());
        const bool mayGain = !kernel_.loops.empty() || !kernel_.calls.empty() ||
                             std::ranges::any_of(code_.body().exprs, [](const Expr& expr) {
                                 return expr.op.starts_with('/') || expr.op.starts_with('%');
                             });
        if (!mayGain)
            return refuse("no-gain",
                          fmt::format("{} has neither a loop nor a division", kernel_.name));
        KERNELSKILL_TRY(const GivenValues given, valuesOf(scalars));
        const std::vector<SpecialReason> reasons = specialReasons(context_, given);
        KERNELSKILL_CHECK(choose(reasons, given));
        KERNELSKILL_CHECK(requireFollowableLaunches(context_));
        KERNELSKILL_CHECK(requireTemplateHead(context_));
        addLaunches();
        KERNELSKILL_CHECK(found_.isDirect ? requireOwnNames() : requireChoice());
        chooseUnrolled();
        return std::move(found_);
    }

private:
    [[nodiscard]] Gated<std::vector<std::uint32_t>> scalarParameters() const {
        std::vector<std::uint32_t> found;
        for (std::uint32_t i = 0; i < kernel_.parameters.size(); ++i) {
            const Parameter& parameter = kernel_.parameters[i];
            if (parameter.variable != noId && !parameter.name.empty() &&
                isIntegral(parameter.type) && !code_.isEverWritten(parameter.variable))
                found.push_back(i);
        }
        if (found.empty())
            return refuse("no-scalar",
                          fmt::format("{} has no integer among its parameters that stays as it is",
                                      kernel_.name));
        return found;
    }

    /// The values at the launch of which most are known.
    [[nodiscard]] Gated<GivenValues> valuesOf(const std::vector<std::uint32_t>& scalars) {
        GivenValues best;
        for (const LaunchSite& launch : kernel_.launches) {
            GivenValues given;
            for (const std::uint32_t parameter : scalars)
                if (const auto& known = argumentAt(launch, parameter))
                    given[kernel_.parameters[parameter].variable] = known->value;
            if (given.size() > best.size())
                best = std::move(given);
        }
        if (best.empty())
            return refuse("unknown-value",
                          fmt::format("no launch of {} tells the value of an integer that it "
                                      "passes",
                                      kernel_.name));
        return best;
    }

    const std::optional<KnownArgument>& argumentAt(const LaunchSite& launch,
                                                   std::uint32_t parameter) {
        const auto [place, isNew] = arguments_.try_emplace({&launch, parameter});
        if (isNew)
            place->second = knownArgument(context_, launch, parameter);
        return place->second;
    }

    Gated<void> choose(const std::vector<SpecialReason>& reasons, const GivenValues& given) {
        std::set<std::uint32_t> chosen;
        double loops = 0;
        double all = 0;
        bool hasArray = false;
        for (const SpecialReason& reason : reasons) {
            std::set<std::uint32_t> both = chosen;
            both.insert(reason.parameters.begin(), reason.parameters.end());
            if (both.size() > maxSpecialParameters)
                continue;
            chosen = std::move(both);
            found_.reasons.push_back(reason);
            all += reason.weight;
            loops += reason.use == SpecialUse::Loop ? reason.weight : 0;
            hasArray = hasArray || !reason.array.empty();
        }
        if (all < minWeight && loops < minLoopWeight && !hasArray) {
            std::string names;
            for (const Parameter& parameter : kernel_.parameters)
                if (given.contains(parameter.variable))
                    names += (names.empty() ? "" : ", ") + parameter.name;
            return refuse("no-gain",
                          fmt::format("what {} of {} is decides no short loop, no division that "
                                      "costs and no branch in a loop",
                                      names, kernel_.name));
        }
        found_.parameters.assign(chosen.begin(), chosen.end());
        return {};
    }

    void addLaunches() {
        found_.isDirect = true;
        for (std::uint32_t i = 0; i < kernel_.launches.size(); ++i) {
            SpecialLaunch launch{i, {}};
            for (const std::uint32_t parameter : found_.parameters)
                launch.values.push_back(argumentAt(kernel_.launches[i], parameter));
            found_.isDirect = found_.isDirect && launch.isConstant();
            found_.launches.push_back(std::move(launch));
        }
    }

    /// Refuses where a template parameter with the name of the parameter would be hidden.
    [[nodiscard]] Gated<void> requireOwnNames() const {
        for (const std::uint32_t index : found_.parameters) {
            const Parameter& parameter = kernel_.parameters[index];
            for (VariableId id = 0; id < code_.body().variables.size(); ++id)
                if (id != parameter.variable && code_.body().variable(id).name == parameter.name)
                    return refuse(
                        "name-hidden",
                        fmt::format("{} is also the name of a variable on line {}", parameter.name,
                                    lineNumber(context_, code_.body().variable(id).span.begin)));
        }
        for (const LaunchSite& launch : kernel_.launches)
            if (launch.argumentSpans.size() != kernel_.parameters.size())
                return refuse("default-argument",
                              fmt::format("the launch on {} leaves arguments to defaults",
                                          placeOf(context_, launch)));
        return {};
    }

    /// Refuses where the host cannot choose the instance by comparing the arguments.
    [[nodiscard]] Gated<void> requireChoice() const {
        for (const std::uint32_t index : found_.parameters)
            if (!isPlainInteger(kernel_.parameters[index].type))
                return refuse("value-range", fmt::format("{} is not of a built-in integer type",
                                                         kernel_.parameters[index].name));
        for (const SpecialLaunch& each : found_.launches) {
            const LaunchSite& launch = kernel_.launches[each.launch];
            for (std::size_t i = 0; each.isKnown() && i < each.values.size(); ++i) {
                const std::int64_t value = each.values[i]->value;
                if (value < 0 || value > std::numeric_limits<std::int32_t>::max())
                    return refuse("value-range",
                                  fmt::format("{} is {} at the launch on {}",
                                              kernel_.parameters[found_.parameters[i]].name, value,
                                              placeOf(context_, launch)));
                if (!hasNoEffect(context_.shared().host(launch.host),
                                 launch.arguments[found_.parameters[i]]))
                    return refuse("launch-statement",
                                  fmt::format("an argument of the launch on {} cannot be evaluated "
                                              "twice",
                                              placeOf(context_, launch)));
            }
            if (each.isKnown() && !each.isConstant() && launchStatement(context_, launch) == noId)
                return refuse("launch-statement",
                              fmt::format("the launch on {} is no statement of a block alone",
                                          placeOf(context_, launch)));
        }
        return {};
    }

    void chooseUnrolled() {
        const SourceLayout layout(*context_.file.source, kernel_);
        const FunctionBody& body = code_.body();
        for (const SpecialReason& reason : found_.reasons) {
            if (reason.use != SpecialUse::Loop || reason.loop == noId)
                continue;
            std::int64_t copies = reason.rounds;
            for (const SpecialReason& other : found_.reasons)
                if (other.use == SpecialUse::Loop && other.loop != reason.loop &&
                    other.loop != noId && code_.encloses(reason.loop, other.loop))
                    copies *= other.rounds;
            const Stmt& loop = body.stmt(reason.loop);
            if (copies <= maxCopies && loop.kind == StmtKind::For && loop.pragma.empty() &&
                !loop.fromMacro && layout.startsLine(loop.span.begin))
                found_.unrolled.push_back(reason.loop);
        }
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    std::map<std::pair<const LaunchSite*, std::uint32_t>, std::optional<KnownArgument>> arguments_;
    Specialization found_;
};

} // namespace

bool SpecialLaunch::isKnown() const {
    return std::ranges::all_of(values, [](const auto& value) { return value.has_value(); });
}

bool SpecialLaunch::isConstant() const {
    return std::ranges::all_of(values,
                               [](const auto& value) { return value && value->isConstant; });
}

Gated<Specialization> specialization(const SkillContext& context) {
    KERNELSKILL_CHECK(requireEditable(context));
    return SpecialPlanner(context).plan();
}

} // namespace kernelskill::skills
