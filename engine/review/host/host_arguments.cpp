#include "engine/review/host/host_arguments.h"

#include "analysis/syntax/lexer.h"
#include "engine/review/host/counterpart.h"
#include "engine/review/host/device_queries.h"
#include "engine/review/host/host_order.h"
#include "engine/review/host/host_steps.h"
#include "engine/review/host/runtime_state.h"
#include "engine/review/host/trace_comparison.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace kernelskill::engine {
namespace {

using analysis::FileModel;
using analysis::HostFunction;
using analysis::KernelModel;
using analysis::LaunchSite;
using analysis::Span;
using analysis::Token;

constexpr std::string_view argumentsCheck = "host code passes the same";

std::string codeOf(const FileModel& file, const HostFunction& function) {
    return function.file == file.file ? analysis::tokenText(file.source->text(), function.span)
                                      : std::string();
}

/// The names of the pointers that both versions of a kernel have as parameters.
std::vector<std::string> sharedPointers(const KernelModel* before, const KernelModel* after) {
    std::vector<std::string> names;
    if (before == nullptr || after == nullptr)
        return names;
    const auto isPointer = [](const analysis::Parameter& parameter) {
        return parameter.type.pointerDepth > 0;
    };
    for (const analysis::Parameter& parameter : before->parameters)
        if (isPointer(parameter) &&
            std::ranges::any_of(after->parameters, [&](const analysis::Parameter& other) {
                return isPointer(other) && other.name == parameter.name;
            }))
            names.push_back(parameter.name);
    return names;
}

/// The arguments for the parameters of these names.
std::vector<std::string> argumentsFor(const std::vector<std::string>& names,
                                      const KernelModel* kernel,
                                      const std::vector<std::string>& arguments) {
    std::vector<std::string> found;
    for (const std::string& name : names) {
        const auto parameter =
            std::ranges::find(kernel->parameters, name, &analysis::Parameter::name);
        const auto place = static_cast<std::size_t>(parameter - kernel->parameters.begin());
        if (place < arguments.size())
            found.push_back(name + "=" + arguments[place]);
    }
    return found;
}

/// `what` with `#` for each argument that is a number.
std::string withoutNumbers(std::string_view what) {
    std::string text;
    for (std::size_t i = 0; i < what.size(); ++i) {
        const bool begins = i > 0 && (what[i - 1] == '(' || what[i - 1] == ' ');
        std::size_t end = i;
        while (end < what.size() && std::isdigit(static_cast<unsigned char>(what[end])) != 0)
            ++end;
        const bool isNumber =
            begins && end > i && end < what.size() && (what[end] == ',' || what[end] == ')');
        text += isNumber ? '#' : what[i];
        i = isNumber ? end - 1 : i;
    }
    return text;
}

/// The functions that make a grid or block of a launch in the host function out of numbers alone.
std::set<std::string> configuringFunctions(const FileModel& file, std::uint32_t function) {
    const analysis::FunctionBody& body = file.hostFunctions[function].body;
    std::set<std::string> names;
    const auto isNumber = [&](analysis::ExprId id) {
        const analysis::Type& type = body.expr(id).type;
        return type.pointerDepth == 0 && type.scalar != analysis::ScalarKind::Unknown;
    };
    const auto collect = [&](analysis::ExprId id, const auto& self) -> void {
        if (id == analysis::noId)
            return;
        const analysis::Expr& expr = body.expr(id);
        if (expr.kind == analysis::ExprKind::Call && !expr.isMethod &&
            std::ranges::all_of(expr.children, isNumber))
            names.insert(expr.name);
        for (const analysis::ExprId child : expr.children)
            self(child, self);
    };
    for (const KernelModel& kernel : file.kernels)
        for (const LaunchSite& launch : kernel.launches)
            if (launch.host == function) {
                collect(launch.grid, collect);
                collect(launch.block, collect);
            }
    return names;
}

/// The call with what is unknown in its arguments, `size@host1`, and without their numbers.
std::string withUnknowns(std::string_view what) {
    const auto isWord = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '@';
    };
    std::set<std::string> unknowns;
    for (std::size_t i = 0; i < what.size(); ++i) {
        std::size_t end = i;
        while (end < what.size() && isWord(what[end]))
            ++end;
        const std::string word(what.substr(i, end - i));
        if (word.contains('@'))
            unknowns.insert(word);
        i = std::max(i, end == i ? i : end - 1);
    }
    return fmt::format("{}({})", what.substr(0, what.find('(')), fmt::join(unknowns, ", "));
}

/// Compares the arguments that one function passes, before and after the edit.
class ArgumentComparison {
public:
    ArgumentComparison(const FileModel& before, std::uint32_t original, const FileModel& after,
                       std::uint32_t edited, const std::stop_token& stop)
        : before_(before), original_(original), after_(after), edited_(edited), stop_(stop) {}

    [[nodiscard]] CheckResult run() const {
        for (const std::int64_t first : firstIntegers) {
            auto followed = follow(first);
            if (!followed && first <= largestToFollow)
                return compareTexts();
            if (followed && !*followed)
                return *std::move(followed);
        }
        return held(std::string(argumentsCheck));
    }

private:
    /// All paths with one set of numbers; nullopt where one of the two is not followed.
    [[nodiscard]] std::optional<CheckResult> follow(std::int64_t firstInteger) const {
        std::vector<HostScenario> open{{firstInteger, {}}};
        for (std::size_t paths = 0; !open.empty(); ++paths) {
            const HostScenario scenario = std::move(open.back());
            open.pop_back();
            if (paths >= maxPaths)
                return std::nullopt;
            auto wanted = traceHost(before_, original_, scenario, stop_);
            if (!wanted)
                return std::nullopt;
            auto found = traceHost(after_, edited_, scenario, stop_);
            if (!found || wanted->undecided != found->undecided)
                return std::nullopt;
            if (!wanted->undecided.empty()) {
                for (const bool choice : {false, true}) {
                    open.push_back(scenario);
                    open.back().choices[wanted->undecided] = choice;
                }
                continue;
            }
            reduce(*wanted, *found);
            const TraceComparison compared = compareTraces(*wanted, *found);
            if (!compared.isFollowed)
                return std::nullopt;
            if (!compared.difference.empty())
                return incorrect(std::string(argumentsCheck), compared.difference,
                                 {.stage = ReviewStage::Order});
        }
        return held(std::string(argumentsCheck));
    }

    /// Leaves in both traces what is compared.
    void reduce(HostTrace& wanted, HostTrace& found) const {
        const auto configurations = [](const HostTrace& trace) {
            std::vector<std::string> all;
            for (const HostStep& step : trace.steps)
                if (step.kind == HostStepKind::Launch)
                    all.push_back(step.configuration);
            return all;
        };
        const bool keepsNumbers = configurations(wanted) == configurations(found);
        for (HostTrace* trace : {&wanted, &found}) {
            const FileModel& file = trace == &wanted ? before_ : after_;
            const std::set<std::string> configuring =
                configuringFunctions(file, trace == &wanted ? original_ : edited_);
            for (HostStep& step : trace->steps) {
                if (step.kind == HostStepKind::Launch)
                    step.what =
                        fmt::format("{}({})", step.kernel,
                                    fmt::join(argumentsFor(pointersOf(step.kernel),
                                                           analysis::kernelNamed(file, step.kernel),
                                                           step.arguments),
                                              ", "));
                else if (!keepsNumbers &&
                         configuring.contains(step.what.substr(0, step.what.find('('))))
                    step.what = withUnknowns(step.what);
                else if (step.allocates || !keepsNumbers)
                    step.what = withoutNumbers(step.what);
            }
        }
    }

    [[nodiscard]] std::vector<std::string> pointersOf(const std::string& kernel) const {
        return sharedPointers(analysis::kernelNamed(before_, kernel),
                              analysis::kernelNamed(after_, kernel));
    }

    /// The arguments of each call and launch as written, in the order of the text.
    [[nodiscard]] std::vector<std::string> textsOf(const FileModel& file,
                                                   std::uint32_t function) const {
        const HostFunction& host = file.hostFunctions[function];
        std::vector<std::pair<Span, std::string>> calls;
        if (host.file != file.file)
            return {};
        const std::string_view text = file.source->text();
        for (const analysis::Expr& expr : host.body.exprs)
            if (expr.kind == analysis::ExprKind::Call && isRuntimeCall(expr.name) &&
                !expr.name.contains("Malloc"))
                calls.emplace_back(expr.span, analysis::tokenText(text, expr.span));
        for (const KernelModel& kernel : file.kernels)
            for (const LaunchSite& launch : kernel.launches) {
                if (launch.host != function)
                    continue;
                std::vector<std::string> arguments;
                for (const Span span : launch.argumentSpans)
                    arguments.push_back(analysis::tokenText(text, span));
                std::string stream;
                if (launch.stream != analysis::noId)
                    stream = analysis::tokenText(text, host.body.expr(launch.stream).span);
                calls.emplace_back(launch.span,
                                   fmt::format("{}({}) in {}", launch.kernelName,
                                               fmt::join(argumentsFor(pointersOf(launch.kernelName),
                                                                      &kernel, arguments),
                                                         ", "),
                                               stream.empty() ? "0" : stream));
            }
        std::ranges::sort(calls);
        std::vector<std::string> texts;
        for (auto& [span, call] : calls)
            texts.push_back(std::move(call));
        return texts;
    }

    [[nodiscard]] CheckResult compareTexts() const {
        const auto wanted = textsOf(before_, original_);
        const auto found = textsOf(after_, edited_);
        for (std::size_t i = 0; i < std::min(wanted.size(), found.size()); ++i)
            if (wanted[i] != found[i])
                return invalid(std::string(argumentsCheck),
                               fmt::format("{} was '{}' and is '{}', and what the host does there "
                                           "cannot be followed",
                                           before_.hostFunctions[original_].name, wanted[i],
                                           found[i]),
                               {.stage = ReviewStage::Order});
        return held(std::string(argumentsCheck));
    }

    const FileModel& before_;
    std::uint32_t original_;
    const FileModel& after_;
    std::uint32_t edited_;
    const std::stop_token& stop_;
};

/// Calls of the runtime with their arguments as written, outside of kernels and of functions that
/// launch them. Allocations are left out: trials compare the sizes that kernels need. So are
/// functions that only one version has and that ask the device for numbers.
std::vector<std::string> callsElsewhere(const FileModel& file, const FileModel& other) {
    std::vector<Span> known;
    for (const auto& [name, body] : deviceQueries(file.source->text()))
        if (!other.source->text().contains(name))
            known.push_back(body);
    for (const HostFunction& function : file.hostFunctions)
        if (function.file == file.file)
            known.push_back(function.span);
    const std::vector<Token> tokens = analysis::lex(file.source->text());
    std::vector<std::string> calls;
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
        const bool isCall = tokens[i].isIdentifier() && isRuntimeCall(tokens[i].text) &&
                            tokens[i + 1].is("(") && !tokens[i].text.contains("Malloc");
        const bool isKnown =
            std::ranges::any_of(known, [&](Span span) { return span.contains(tokens[i].span); });
        if (!isCall || isKnown)
            continue;
        std::string call(tokens[i].text);
        int depth = 0;
        for (std::size_t at = i + 1; at < tokens.size(); ++at) {
            depth += tokens[at].is("(") ? 1 : tokens[at].is(")") ? -1 : 0;
            call +=
                fmt::format("{}{}", depth == 1 && tokens[at].is("(") ? "" : " ", tokens[at].text);
            if (depth == 0)
                break;
        }
        calls.push_back(std::move(call));
    }
    return calls;
}

} // namespace

bool changesHostCode(const FileModel& before, const FileModel& after) {
    for (std::uint32_t i = 0; i < before.hostFunctions.size(); ++i) {
        const auto other = counterpart(before, i, after);
        if (!other ||
            codeOf(before, before.hostFunctions[i]) != codeOf(after, after.hostFunctions[*other]))
            return true;
    }
    return callsElsewhere(before, after) != callsElsewhere(after, before);
}

CheckResult checkHostArguments(const FileModel& before, const FileModel& after,
                               const std::stop_token& stop) {
    for (std::uint32_t i = 0; i < before.hostFunctions.size(); ++i) {
        const auto other = counterpart(before, i, after);
        if (!other || changesHostOrder(before, i, after, *other) ||
            codeOf(before, before.hostFunctions[i]) == codeOf(after, after.hostFunctions[*other]))
            continue;
        if (auto same = ArgumentComparison(before, i, after, *other, stop).run(); !same)
            return same;
    }
    const auto wanted = callsElsewhere(before, after);
    const auto found = callsElsewhere(after, before);
    for (std::size_t i = 0; i < std::max(wanted.size(), found.size()); ++i) {
        const auto at = [&](const std::vector<std::string>& calls) {
            return i < calls.size() ? "'" + calls[i] + "'" : std::string("no call");
        };
        if (at(wanted) != at(found))
            return invalid(std::string(argumentsCheck),
                           fmt::format("{} became {} in a function that launches no kernel, and "
                                       "no run shows what the host does there",
                                       at(wanted), at(found)),
                           {.stage = ReviewStage::Order});
    }
    return held(std::string(argumentsCheck));
}

} // namespace kernelskill::engine
