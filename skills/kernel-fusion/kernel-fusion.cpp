/// Makes one kernel of two that are launched one after the other and whose threads exchange nothing
/// with other threads.
#include "analysis/queries/source_layout.h"
#include "skills/base/planned_skill.h"
#include "skills/gates/host_launches.h"
#include "skills/kernel-fusion/fused_body.h"
#include "skills/kernel-fusion/fused_names.h"
#include "skills/kernel-fusion/fused_text.h"
#include "skills/kernel-fusion/launch_pair.h"
#include "skills/kernel-fusion/thread_elements.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

struct Fusion {
    LaunchPair pair;
    SharedWork work;
    FusedNames names;
    FusedBody body;
    const KernelModel* head = nullptr; ///< The kernel whose head serves both.
};

bool hasSerialLoop(const KernelModel& kernel, const FileModel& file) {
    const auto nest = nestOf(file, kernel);
    return std::ranges::any_of(nest->nodes, [](const NestNode& node) {
        return node.loop() != nullptr && node.loop()->style == NestLoopStyle::Serial;
    });
}

Gated<void> requireWritten(const SkillContext& context, const LaunchPair& pair) {
    for (const KernelModel* kernel : {pair.producer, pair.consumer})
        if (kernel->file != context.file.file || kernel->fromMacro)
            return refuse("kernel-elsewhere",
                          fmt::format("{} is not written out in this file", kernel->name));
    if (pair.producer == pair.consumer)
        return refuse("same-kernel",
                      fmt::format("both launches are of {}, which a loop in it would serve",
                                  pair.producer->name));
    const std::uint32_t defined = std::max(pair.producer->span.end, pair.consumer->span.end);
    if (pair.first->span.begin < defined)
        return refuse("defined-later",
                      fmt::format("line {} launches a kernel that is defined below",
                                  lineNumber(context, pair.first->span.begin)));
    return {};
}

/// Refuses launches by calls and graphs: a review could not follow them.
Gated<void> requireFollowedHost(const SkillContext& context, const LaunchPair& pair) {
    const HostFunction& host = context.file.hostFunctions[pair.host];
    for (const Expr& expr : host.body.exprs) {
        const bool isOtherLaunch =
            expr.kind == ExprKind::Call &&
            (expr.name.starts_with("cudaLaunch") || expr.name.starts_with("cudaGraphAdd"));
        const bool isUnread =
            expr.kind == ExprKind::Other && context.file.source->slice(expr.span).contains("cuda");
        if (isOtherLaunch || isUnread)
            return refuse("host-not-followed",
                          fmt::format("what line {} gives the GPU to do is not followed",
                                      lineNumber(context, expr.span.begin)));
    }
    return {};
}

/// Refuses if the second kernel reads by `__ldg` what the first one writes: within one kernel such
/// a load need not see it.
Gated<void> requireCoherentLoads(const SkillContext& context, const LaunchPair& pair) {
    const CodeMap& host = context.shared().host(pair.host);
    const CodeMap code(pair.consumer->body);
    for (ExprId call = 0; call < code.body().exprs.size(); ++call) {
        if (code.body().expr(call).name != "__ldg")
            continue;
        for (const ExprId below : code.expressionsBelow(call))
            for (std::size_t own = 0; own < pair.second->arguments.size(); ++own)
                for (std::size_t other = 0; other < pair.first->arguments.size(); ++other)
                    if (code.body().expr(below).kind == ExprKind::Variable &&
                        code.body().expr(below).variable ==
                            pair.consumer->parameters[own].variable &&
                        pair.producer->parameters[other].isWritten &&
                        host.sameExpression(pair.first->arguments[other],
                                            pair.second->arguments[own]))
                        return refuse(
                            "read-only-load",
                            fmt::format("line {} reads by __ldg what {} writes",
                                        lineNumber(context, code.body().expr(call).span.begin),
                                        pair.producer->name));
    }
    return {};
}

Gated<Fusion> planWith(const SkillContext& context, const LaunchSite& launch, Neighbour neighbour) {
    Fusion found;
    KERNELSKILL_TRY(found.pair, pairWith(context, launch, neighbour));
    const LaunchPair& pair = found.pair;
    KERNELSKILL_CHECK(requireWritten(context, pair));
    if (!pair.producer->sharedArrays.empty() && !pair.consumer->sharedArrays.empty())
        return refuse("shared-memory",
                      fmt::format("{} and {} both have shared memory, which one block would need "
                                  "at once",
                                  pair.producer->name, pair.consumer->name));
    KERNELSKILL_CHECK(requireFollowedHost(context, pair));
    KERNELSKILL_CHECK(requireCoherentLoads(context, pair));
    KERNELSKILL_TRY(found.head, headOf(context, pair));
    KERNELSKILL_TRY(found.work, requireOwnElements(context, pair));
    const bool sharesNothing = found.work.passed.empty() && found.work.reread.empty();
    if (sharesNothing && (hasSerialLoop(*pair.producer, context.file) ||
                          hasSerialLoop(*pair.consumer, context.file)))
        return refuse("nothing-shared",
                      fmt::format("{} and {} use no element together, and run longer than a launch "
                                  "takes",
                                  pair.producer->name, pair.consumer->name));
    KERNELSKILL_TRY(found.names, fusedNames(context, pair));
    KERNELSKILL_TRY(found.body, fusedBody(context, pair, found.names));
    return found;
}

Gated<Fusion> planAround(const SkillContext& context, const LaunchSite& launch) {
    auto behind = planWith(context, launch, Neighbour::Behind);
    if (behind)
        return behind;
    auto before = planWith(context, launch, Neighbour::Before);
    const bool saysMore = before || behind.error().gate == "no-neighbour";
    return saysMore ? std::move(before) : std::move(behind);
}

class KernelFusionSkill : public PlannedSkill<Fusion> {
    [[nodiscard]] Gated<Fusion> plan(const SkillContext& context) const override {
        return planForLaunch(context,
                             [&](const LaunchSite& launch) { return planAround(context, launch); });
    }

    [[nodiscard]] Gated<Offer> offer(const SkillContext& context,
                                     const Fusion& found) const override {
        Offer offer = newOffer(context, context.kernel.nameSpan);
        const KernelModel& first = *found.pair.producer;
        const KernelModel& second = *found.pair.consumer;
        offer.title = fmt::format("Fuse {} and {} into one kernel", first.name, second.name);
        const SharedWork& work = found.work;
        const std::string shared =
            !work.passed.empty()
                ? fmt::format("each thread of {} reads of {} only what its own thread of {} wrote",
                              second.name, fmt::join(work.passed, " and "), first.name)
            : !work.reread.empty()
                ? fmt::format("both read {} at the same places", fmt::join(work.reread, " and "))
                : "neither touches what the other one writes";
        offer.why = fmt::format("lines {} and {} launch them one after the other on the same grid, "
                                "and {}",
                                lineNumber(context, found.pair.first->span.begin),
                                lineNumber(context, found.pair.second->span.begin), shared);
        if (work.bytesBefore && work.bytesAfter > 0 && *work.bytesBefore > work.bytesAfter)
            offer.gain =
                ExpectedGain{.factor = *work.bytesBefore / work.bytesAfter,
                             .basis = fmt::format("a thread moves {:g} bytes instead of {:g}",
                                                  work.bytesAfter, *work.bytesBefore)};
        return offer;
    }

    [[nodiscard]] GatedEdits edits(const SkillContext& context,
                                   const Fusion& found) const override {
        const LaunchPair& pair = found.pair;
        const SourceText& source = *context.file.source;
        const SourceLayout layout(source, *pair.producer);
        const std::uint32_t defined =
            layout.endOfLineTrivia(std::max(pair.producer->span.end, pair.consumer->span.end));
        const std::string kernel = layout.newline() + layout.newline() +
                                   layout.indentation(pair.producer->span.begin) +
                                   fusedText(context, pair, found.names, found.body, *found.head);
        std::vector<TextEdit> edits{{{defined, defined}, kernel}};
        for (TextEdit& edit : launchEdits(context, found))
            edits.push_back(std::move(edit));
        const FunctionBody& host = context.file.hostFunctions[pair.host].body;
        std::vector<StmtId> gone = pair.repeated;
        gone.push_back(pair.isAtSecond ? pair.firstStatement : pair.secondStatement);
        for (const StmtId id : gone)
            edits.push_back({layout.statementWithLine(host.stmt(id).span), ""});
        return edits;
    }

    /// The edits that make one of the launches that of the fused kernel.
    [[nodiscard]] static std::vector<TextEdit> launchEdits(const SkillContext& context,
                                                           const Fusion& found) {
        const LaunchPair& pair = found.pair;
        const SourceText& source = *context.file.source;
        const LaunchSite& kept = pair.isAtSecond ? *pair.second : *pair.first;
        const LaunchSite& named = found.head == pair.producer ? *pair.first : *pair.second;
        const KernelModel& ofNamed = *found.head;
        // What follows the kernel's name: template arguments, if it has some.
        std::string name(source.slice({named.span.begin, named.configurationSpan.begin}));
        if (const auto at = name.find(ofNamed.name); at != std::string::npos)
            name.replace(at, ofNamed.name.size(), found.names.kernel);
        std::vector<TextEdit> edits{{{kept.span.begin, kept.configurationSpan.begin}, name}};
        std::string added;
        for (const AddedParameter& parameter : found.names.added)
            added += fmt::format("{}{}", added.empty() && pair.first->arguments.empty() ? "" : ", ",
                                 source.slice(pair.second->argumentSpans.at(parameter.place)));
        const std::uint32_t end = kept.span.end - 1; // Before the closing bracket.
        if (!pair.isAtSecond) {
            edits.push_back({{end, end}, added});
            return edits;
        }
        const auto& spans = pair.first->argumentSpans;
        const std::string own =
            spans.empty() ? std::string()
                          : std::string(source.slice({spans.front().begin, spans.back().end}));
        const auto& replaced = pair.second->argumentSpans;
        edits.push_back({{replaced.empty() ? end : replaced.front().begin,
                          replaced.empty() ? end : replaced.back().end},
                         own + added});
        return edits;
    }
};

} // namespace

KERNELSKILL_SKILL(KernelFusionSkill)

} // namespace kernelskill::skills
