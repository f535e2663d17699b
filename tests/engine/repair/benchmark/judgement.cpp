#include "tests/engine/repair/benchmark/judgement.h"

#include "analysis/syntax/lexer.h"
#include "engine/comparison/text_difference.h"
#include "engine/inputs/launch_inference.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelskill::testing {
namespace {

using analysis::KernelModel;
using analysis::LaunchSite;
using analysis::Span;
using analysis::TokenKind;
using engine::ProgramSource;

constexpr std::uint64_t seed = 20;

/// The tokens to compare. Leaves out those that may be elsewhere in a file that compiles: #include
/// directives and names of namespaces.
std::vector<std::string_view> words(std::string_view text, Span range) {
    std::vector<std::string_view> found;
    bool isInAlias = false;
    const auto tokens = analysis::lex(text, range);
    for (std::size_t index = 0; index < tokens.size(); ++index) {
        const analysis::Token& token = tokens[index];
        isInAlias |=
            token.text == "namespace" && index + 2 < tokens.size() && tokens[index + 2].text == "=";
        if (isInAlias) {
            isInAlias = token.text != ";";
            continue;
        }
        bool isInclude = token.kind == TokenKind::Directive &&
                         token.text.find("include") != std::string_view::npos;
        if (!isInclude)
            found.push_back(token.text.substr(0, token.text.find_last_not_of(" \r\n") + 1));
    }
    return found;
}

std::vector<std::string_view> words(const ProgramSource& program) {
    return words(program.text, {0, static_cast<std::uint32_t>(program.text.size())});
}

/// The words outside of kernels, device functions and launches: what the Reviewer does not look at.
std::vector<std::string_view> hostWords(const ProgramSource& program) {
    std::vector<Span> left;
    for (const auto* functions : {&program.model->kernels, &program.model->deviceFunctions})
        for (const KernelModel& function : *functions) {
            if (function.file == program.model->file)
                left.push_back(function.span);
            for (const LaunchSite& launch : function.launches)
                left.push_back(launch.span);
        }
    std::ranges::sort(left, {}, &Span::begin);
    std::vector<std::string_view> found;
    std::uint32_t from = 0;
    left.push_back({static_cast<std::uint32_t>(program.text.size()), 0});
    for (Span span : left) {
        if (span.begin > from) {
            auto some = words(program.text, {from, span.begin});
            found.insert(found.end(), some.begin(), some.end());
        }
        from = std::max(from, span.end);
    }
    return found;
}

bool areEqual(const engine::ArgumentSpec& one, const engine::ArgumentSpec& other) {
    if (const auto* buffer = std::get_if<engine::BufferSpec>(&one)) {
        const auto* same = std::get_if<engine::BufferSpec>(&other);
        return same != nullptr && buffer->elements == same->elements &&
               buffer->elementBytes == same->elementBytes;
    }
    const auto* same = std::get_if<engine::ScalarSpec>(&other);
    return same != nullptr && std::get<engine::ScalarSpec>(one).bytes == same->bytes;
}

bool areEqual(const engine::LaunchSpec& one, const engine::LaunchSpec& other) {
    return one.origin == other.origin && one.grid == other.grid && one.block == other.block &&
           one.dynamicSharedBytes == other.dynamicSharedBytes &&
           one.templateArguments == other.templateArguments &&
           std::ranges::equal(
               one.arguments, other.arguments,
               [](const auto& left, const auto& right) { return areEqual(left, right); });
}

/// Whether each launch of the kernel passes and configures the same, as far as it is evaluated, and
/// each argument is spelled the same.
bool isLaunchedTheSame(engine::KernelRef original, engine::KernelRef repaired) {
    if (original.kernel.launches.size() != repaired.kernel.launches.size())
        return false;
    for (std::size_t number = 0; number < original.kernel.launches.size(); ++number)
        if (words(original.program.text, original.kernel.launches[number].span) !=
            words(repaired.program.text, repaired.kernel.launches[number].span)) {
            const auto& before = original.kernel.launches[number].argumentSpans;
            const auto& after = repaired.kernel.launches[number].argumentSpans;
            bool isPassedTheSame = std::ranges::equal(before, after, [&](Span one, Span two) {
                return words(original.program.text, one) == words(repaired.program.text, two);
            });
            if (!isPassedTheSame)
                return false;
        }
    const auto before = engine::inferLaunches(original.file(), original.kernel);
    const auto after = engine::inferLaunches(repaired.file(), repaired.kernel);
    return before && after &&
           std::ranges::equal(*before, *after,
                              [](const auto& one, const auto& two) { return areEqual(one, two); });
}

Judgement reviewed(engine::KernelRef original, const ProgramSource& repaired,
                   const engine::Reviewer& reviewer) {
    const analysis::EditSet edits{
        {original.program.file, engine::textDifference(original.program.text, repaired.text)}};
    const auto verdict = reviewer.review(original, edits, skills::Numerics::Exact, {}, {},
                                         {.measure = false, .seed = seed});
    if (!verdict)
        return {Meaning::Unknown, verdict.error().describe()};
    if (!verdict->isAboutEdit)
        return {Meaning::Unknown, verdict->summary};
    if (verdict->status == engine::VerdictStatus::Unmeasured)
        return {Meaning::SameEffect, ""};
    bool isHazardous = !verdict->checks.empty() && verdict->checks.back().name == "no new hazard";
    return {isHazardous ? Meaning::Hazardous : Meaning::Different, verdict->summary};
}

} // namespace

Judgement judge(const ProgramSource& original, const ProgramSource& repaired,
                const engine::Reviewer& reviewer) {
    if (words(original) == words(repaired))
        return {Meaning::SameText, ""};
    if (hostWords(original) != hostWords(repaired))
        return {Meaning::Unknown, "text outside of kernels and launches differs"};
    for (const KernelModel& kernel : original.model->kernels) {
        if (kernel.file != original.model->file)
            continue;
        const KernelModel* other = analysis::kernelNamed(*repaired.model, kernel.name);
        if (other == nullptr)
            return {Meaning::Different, "there is no kernel " + kernel.name};
        bool isLaunched = !kernel.launches.empty() || !other->launches.empty();
        if (isLaunched && !isLaunchedTheSame({original, kernel}, {repaired, *other}))
            return {Meaning::Different, kernel.name + " is launched in another way"};
        // A device function may differ, so that a kernel of the same text is asked as well.
        if (Judgement judgement = reviewed({original, kernel}, repaired, reviewer);
            judgement.meaning != Meaning::SameEffect)
            return judgement;
    }
    return {Meaning::SameEffect, ""};
}

} // namespace kernelskill::testing
