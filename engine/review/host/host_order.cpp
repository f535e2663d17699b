#include "engine/review/host/host_order.h"

#include "analysis/syntax/lexer.h"
#include "engine/review/host/counterpart.h"
#include "engine/review/host/host_steps.h"
#include "engine/review/host/runtime_state.h"
#include "engine/review/host/trace_comparison.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace kernelskill::engine {
namespace {

using analysis::FileModel;
using analysis::HostFunction;

constexpr std::string_view checkName = "same work in the same order";

/// The launch that `stmt` consists of; nullptr if it is another statement.
const analysis::LaunchSite* launchIn(const FileModel& file, std::uint32_t function,
                                     const analysis::Stmt& stmt) {
    for (const analysis::KernelModel& kernel : file.kernels)
        for (const analysis::LaunchSite& launch : kernel.launches)
            if (launch.host == function && stmt.kind == analysis::StmtKind::Expression &&
                !launch.fromMacro && launch.span.begin == stmt.span.begin)
                return &launch;
    return nullptr;
}

/// `if (…) k<5><<<…>>>(…); else k<0><<<…>>>(…);`: a choice between two instances of a
/// kernel, which is launched in either case.
struct InstanceChoice {
    analysis::StmtId statement = analysis::noId; ///< The if.
    analysis::Span second;                       ///< The launch behind `else`.
};

std::vector<InstanceChoice> instanceChoices(const FileModel& file, std::uint32_t function) {
    std::vector<InstanceChoice> choices;
    const HostFunction& host = file.hostFunctions[function];
    for (analysis::StmtId id = 0; id < host.body.stmts.size() && host.file == file.file; ++id) {
        const analysis::Stmt& stmt = host.body.stmt(id);
        if (stmt.kind != analysis::StmtKind::If || stmt.children.size() != 2 || stmt.fromMacro)
            continue;
        const auto* first = launchIn(file, function, host.body.stmt(stmt.children[0]));
        const auto* second = launchIn(file, function, host.body.stmt(stmt.children[1]));
        const auto configured = [&](const analysis::LaunchSite& launch) {
            return analysis::tokenText(file.source->text(),
                                       {launch.configurationSpan.begin, launch.span.end});
        };
        if (first != nullptr && second != nullptr && first->kernelName == second->kernelName &&
            configured(*first) == configured(*second))
            choices.push_back({id, second->span});
    }
    return choices;
}

/// The heads of the loops and branches around `span`, as written: they decide whether, and how
/// often, the code there runs.
std::string headsAround(const FileModel& file, const HostFunction& host, analysis::Span span,
                        const std::vector<InstanceChoice>& choices) {
    std::string heads;
    for (const analysis::Stmt& stmt : host.body.stmts) {
        if (std::ranges::any_of(choices, [&](const InstanceChoice& choice) {
                return &stmt == &host.body.stmt(choice.statement);
            }))
            continue;
        const bool isLoop = stmt.kind == analysis::StmtKind::For ||
                            stmt.kind == analysis::StmtKind::While ||
                            stmt.kind == analysis::StmtKind::Do;
        const bool isAround = !stmt.fromMacro && stmt.span.contains(span) &&
                              (isLoop || stmt.kind == analysis::StmtKind::If);
        if (!isAround || stmt.children.empty())
            continue;
        const analysis::Span body = host.body.stmt(stmt.children.back()).span;
        const bool isFirst = stmt.kind != analysis::StmtKind::Do && body.begin > stmt.span.begin;
        heads += isLoop ? "loop " : "if ";
        if (host.file != file.file)
            continue;
        if (stmt.kind == analysis::StmtKind::If || !isFirst)
            heads += stmt.condition == analysis::noId
                         ? std::string_view()
                         : file.source->slice(host.body.expr(stmt.condition).span);
        else
            heads += file.source->slice({stmt.span.begin, body.begin});
    }
    return heads;
}

/// Name of each call of the runtime and each launched kernel, in the order of the text, with the
/// heads of the loops and branches around it. A choice among instances of a kernel is one launch.
std::vector<std::pair<std::string, std::string>> outlineOf(const FileModel& file,
                                                           std::uint32_t function) {
    const HostFunction& host = file.hostFunctions[function];
    const std::vector<InstanceChoice> choices = instanceChoices(file, function);
    std::vector<std::pair<analysis::Span, std::string>> calls;
    for (const analysis::Expr& expr : host.body.exprs)
        if (expr.kind == analysis::ExprKind::Call && isRuntimeCall(expr.name))
            calls.emplace_back(expr.span, expr.name);
    for (const analysis::KernelModel& kernel : file.kernels)
        for (const analysis::LaunchSite& launch : kernel.launches)
            if (launch.host == function &&
                std::ranges::find(choices, launch.span, &InstanceChoice::second) == choices.end())
                calls.emplace_back(launch.span, launch.kernelName);
    std::ranges::sort(calls);
    std::vector<std::pair<std::string, std::string>> outline;
    for (auto& [span, name] : calls)
        outline.emplace_back(std::move(name), headsAround(file, host, span, choices));
    return outline;
}

/// All paths of one function with one set of numbers.
class PathComparison {
public:
    PathComparison(const FileModel& before, std::uint32_t original, const FileModel& after,
                   std::uint32_t edited, const ReplacedKernels& replaced,
                   const std::stop_token& stop)
        : before_(before), original_(original), after_(after), edited_(edited), replaced_(replaced),
          stop_(stop) {}

    CheckResult run(std::int64_t firstInteger) {
        std::vector<HostScenario> open{{firstInteger, {}}};
        for (std::size_t paths = 0; !open.empty(); ++paths) {
            if (paths >= maxPaths)
                return unusable(std::string(checkName), "too many conditions are not known");
            const HostScenario scenario = std::move(open.back());
            open.pop_back();
            HostScenario ofOriginal = scenario;
            for (const FusedKernel& kernel : replaced_.split)
                ofOriginal.standForTwo.insert(kernel.name);
            const auto wanted = traceHost(before_, original_, ofOriginal, stop_);
            if (!wanted)
                return unusable(std::string(checkName), wanted.error().describe());
            if (!wanted->undecided.empty()) {
                for (const bool choice : {false, true}) {
                    open.push_back(scenario);
                    open.back().choices[wanted->undecided] = choice;
                }
                continue;
            }
            HostScenario ofEdit = scenario;
            for (const FusedKernel& kernel : replaced_.fused)
                ofEdit.standForTwo.insert(kernel.name);
            const auto found = traceHost(after_, edited_, ofEdit, stop_);
            if (!found)
                return invalid(std::string(checkName), found.error().describe(),
                               {.stage = ReviewStage::Order, .error = found.error()});
            if (!found->undecided.empty())
                return invalid(std::string(checkName),
                               "the edit asks what the original does not: " + found->undecided,
                               {.stage = ReviewStage::Order});
            if (auto same = compare(*wanted, *found); !same)
                return same;
        }
        return held(std::string(checkName));
    }

    [[nodiscard]] std::size_t works() const { return works_; }
    [[nodiscard]] std::size_t moved() const { return moved_; }

private:
    CheckResult compare(const HostTrace& wanted, const HostTrace& found) {
        const auto& [fused, split] = replaced_;
        if (fused.empty() && split.empty())
            return judge(compareTraces(wanted, found));
        for (const FusedPlace place : {FusedPlace::First, FusedPlace::Second}) {
            const auto folded = withFusedLaunches(wanted, found, fused, place);
            const auto foldedEdit = withFusedLaunches(found, wanted, split, place);
            for (const auto* each : {&folded, &foldedEdit})
                if (!*each)
                    return incorrect(std::string(checkName), each->error(),
                                     {.stage = ReviewStage::Order});
            if (auto same = judge(compareTraces(*folded, *foldedEdit)); !same)
                return same;
        }
        return held(std::string(checkName));
    }

    CheckResult judge(TraceComparison compared) {
        if (!compared.isFollowed)
            return unusable(std::string(checkName), std::move(compared.difference));
        if (!compared.difference.empty())
            return incorrect(std::string(checkName), std::move(compared.difference),
                             {.stage = ReviewStage::Order});
        works_ = std::max(works_, compared.works);
        moved_ = std::max(moved_, compared.moved);
        return held(std::string(checkName));
    }

    const FileModel& before_;
    std::uint32_t original_;
    const FileModel& after_;
    std::uint32_t edited_;
    const ReplacedKernels& replaced_;
    const std::stop_token& stop_;
    std::size_t works_ = 0;
    std::size_t moved_ = 0;
};

} // namespace

bool changesHostOrder(const FileModel& before, std::uint32_t function, const FileModel& after,
                      std::uint32_t counterpart) {
    return outlineOf(before, function) != outlineOf(after, counterpart);
}

bool changesHostOrder(const FileModel& before, const FileModel& after) {
    for (std::uint32_t i = 0; i < before.hostFunctions.size(); ++i) {
        const auto other = counterpart(before, i, after);
        if (!other || changesHostOrder(before, i, after, *other))
            return true;
    }
    return false;
}

CheckResult checkHostOrder(const FileModel& before, const FileModel& after,
                           const ReplacedKernels& replaced, const std::stop_token& stop) {
    std::string detail;
    for (std::uint32_t i = 0; i < before.hostFunctions.size(); ++i) {
        const std::string& name = before.hostFunctions[i].name;
        const auto other = counterpart(before, i, after);
        if (!other)
            return invalid(std::string(checkName), fmt::format("{} launches nothing more", name),
                           {.stage = ReviewStage::Order});
        if (!changesHostOrder(before, i, after, *other))
            continue;
        PathComparison paths(before, i, after, *other, replaced, stop);
        for (const std::int64_t first : firstIntegers)
            if (auto held = paths.run(first);
                !held &&
                (first <= largestToFollow || held.error().status == VerdictStatus::Incorrect))
                return held;
        detail += fmt::format("{}{}: {} launches and calls as before{}, none of them run; "
                              "what a call does with the status that it is given is not followed",
                              detail.empty() ? "" : "; ", name, paths.works(), [&] {
                                  return paths.moved() == 0
                                             ? std::string()
                                             : fmt::format(", {} of them in another stream, in "
                                                           "order where they may share memory",
                                                           paths.moved());
                              }());
    }
    return held(std::string(checkName), std::move(detail));
}

} // namespace kernelskill::engine
