/// Launches whose configuration, arguments or template arguments are not right.
#include "tests/engine/repair/benchmark/mutation.h"

#include <cctype>
#include <string>
#include <utility>

namespace kernelskill::testing {
namespace {

using analysis::LaunchSite;
using analysis::Span;

std::vector<LaunchSite> launchesOf(const Subject& subject) {
    std::vector<LaunchSite> launches;
    for (const analysis::KernelModel& kernel : subject.model.kernels)
        for (const LaunchSite& launch : kernel.launches)
            if (!launch.fromMacro && launch.span.end <= subject.text.size() &&
                subject.slice(launch.configurationSpan).starts_with("<<<"))
                launches.push_back(launch);
    return launches;
}

template <typename Break>
std::vector<Breakage> ofEachLaunch(const Subject& subject, Break breaks) {
    std::vector<Breakage> places;
    for (const LaunchSite& launch : launchesOf(subject))
        breaks(launch, places);
    return places;
}

std::vector<Breakage> withoutArgument(const Subject& subject) {
    return ofEachLaunch(subject, [&](const LaunchSite& launch, std::vector<Breakage>& places) {
        const auto& arguments = launch.argumentSpans;
        for (std::size_t index = 0; index < arguments.size() && arguments.size() > 1; ++index) {
            bool isLast = index + 1 == arguments.size();
            places.push_back(changed(isLast
                                         ? Span{arguments[index - 1].end, arguments[index].end}
                                         : Span{arguments[index].begin, arguments[index + 1].begin},
                                     ""));
        }
    });
}

std::vector<Breakage> withArgumentTooMany(const Subject& subject) {
    return ofEachLaunch(subject, [&](const LaunchSite& launch, std::vector<Breakage>& places) {
        for (Span argument : launch.argumentSpans)
            places.push_back(
                changed({argument.end, argument.end}, ", " + std::string(subject.slice(argument))));
    });
}

std::vector<Breakage> withSwappedArguments(const Subject& subject) {
    return ofEachLaunch(subject, [&](const LaunchSite& launch, std::vector<Breakage>& places) {
        const auto& arguments = launch.argumentSpans;
        for (std::size_t index = 0; index + 1 < arguments.size(); ++index)
            places.push_back(
                {{arguments[index], std::string(subject.slice(arguments[index + 1]))},
                 {arguments[index + 1], std::string(subject.slice(arguments[index]))}});
    });
}

/// A value where the kernel wants its address, or the address of what is one.
std::vector<Breakage> withOperator(const Subject& subject, const std::string& inserted) {
    return ofEachLaunch(subject, [&](const LaunchSite& launch, std::vector<Breakage>& places) {
        for (Span argument : launch.argumentSpans)
            if (subject.slice(argument).find_first_of(" ()") == std::string_view::npos)
                places.push_back(changed({argument.begin, argument.begin}, inserted));
    });
}

Span insideOf(Span configuration) {
    return {configuration.begin + 3, configuration.end - 3};
}

std::vector<Breakage> withoutBlock(const Subject& subject) {
    return ofEachLaunch(subject, [&](const LaunchSite& launch, std::vector<Breakage>& places) {
        std::size_t open = tokenFrom(subject, launch.configurationSpan.begin);
        int depth = 0;
        for (std::size_t index = open + 1;
             subject.tokens[index].span.end < launch.configurationSpan.end; ++index) {
            depth += subject.at(index) == "(" ? 1 : subject.at(index) == ")" ? -1 : 0;
            if (depth == 0 && subject.at(index) == ",") {
                places.push_back(changed(
                    {subject.tokens[index].span.begin, insideOf(launch.configurationSpan).end},
                    ""));
                break;
            }
        }
    });
}

std::vector<Breakage> withExtentTooMany(const Subject& subject) {
    return ofEachLaunch(subject, [&](const LaunchSite& launch, std::vector<Breakage>& places) {
        std::uint32_t end = insideOf(launch.configurationSpan).end;
        int arguments =
            2 + (launch.sharedBytes != analysis::noId) + (launch.stream != analysis::noId);
        std::string more;
        for (; arguments < 5; ++arguments)
            more += ", 0";
        places.push_back(changed({end, end}, more));
    });
}

std::vector<Breakage> withTwoAngles(const Subject& subject) {
    return ofEachLaunch(subject, [&](const LaunchSite& launch, std::vector<Breakage>& places) {
        Span whole = launch.configurationSpan;
        places.push_back({{{whole.begin, whole.begin + 1}, ""}, {{whole.end - 1, whole.end}, ""}});
    });
}

std::vector<Breakage> notClosed(const Subject& subject) {
    return ofEachLaunch(subject, [&](const LaunchSite& launch, std::vector<Breakage>& places) {
        Span whole = launch.configurationSpan;
        places.push_back(changed({whole.end - 3, whole.end}, ""));
    });
}

std::vector<Breakage> withoutConfiguration(const Subject& subject) {
    return ofEachLaunch(subject, [&](const LaunchSite& launch, std::vector<Breakage>& places) {
        places.push_back(changed(launch.configurationSpan, ""));
    });
}

/// `<256>` in front of `<<<`: [begin, end) of its tokens.
std::pair<std::size_t, std::size_t> templateTokens(const Subject& subject,
                                                   const LaunchSite& launch) {
    std::size_t end = tokenFrom(subject, launch.configurationSpan.begin);
    std::size_t begin = tokenFrom(subject, launch.span.begin);
    while (begin < end && subject.at(begin) != "<")
        ++begin;
    return {begin, end};
}

std::vector<Breakage> withoutTemplateArguments(const Subject& subject) {
    return ofEachLaunch(subject, [&](const LaunchSite& launch, std::vector<Breakage>& places) {
        auto [begin, end] = templateTokens(subject, launch);
        if (begin < end)
            places.push_back(without(subject, begin, end));
    });
}

std::vector<Breakage> templateArgumentOfOtherKind(const Subject& subject) {
    return ofEachLaunch(subject, [&](const LaunchSite& launch, std::vector<Breakage>& places) {
        auto [begin, end] = templateTokens(subject, launch);
        if (begin + 3 != end)
            return;
        bool isNumber = subject.tokens[begin + 1].kind == analysis::TokenKind::Number;
        places.push_back(changed(subject.tokens[begin + 1].span, isNumber ? "float" : "4"));
    });
}

/// `int block(16, 16)` for a dim3.
std::vector<Breakage> extentOfTypeInt(const Subject& subject) {
    std::vector<Breakage> places;
    for (std::size_t index : sequences(subject, {"dim3"}))
        if (subject.isIdentifier(index + 1))
            places.push_back(changed(subject.tokens[index].span, "int"));
    return places;
}

} // namespace

std::vector<Mutation> launchMutations() {
    return {
        {"launch argument left out", withoutArgument},
        {"launch argument too many", withArgumentTooMany},
        {"launch arguments swapped", withSwappedArguments},
        {"address of a launch argument",
         [](const Subject& subject) { return withOperator(subject, "&"); }},
        {"launch argument dereferenced",
         [](const Subject& subject) { return withOperator(subject, "*"); }},
        {"<<<grid>>> without block", withoutBlock},
        {"<<<...>>> of five", withExtentTooMany},
        {"<<...>>", withTwoAngles},
        {"<<<... without >>>", notClosed},
        {"launch without <<<...>>>", withoutConfiguration},
        {"template arguments left out", withoutTemplateArguments},
        {"template argument of another kind", templateArgumentOfOtherKind},
        {"dim3 declared as int", extentOfTypeInt},
    };
}

} // namespace kernelskill::testing
