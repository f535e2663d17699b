#include "skills/occupancy-shared-memory-tradeoff/occupancy-shared-memory-tradeoff.h"

#include "skills/occupancy-shared-memory-tradeoff/reusable_arrays.h"
#include "skills/rewriting/gates.h"
#include "skills/rewriting/resource_gates.h"
#include "skills/rewriting/shared_analysis.h"
#include "skills/rewriting/source_layout.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::string_view skillId = "occupancy-shared-memory-tradeoff";

std::expected<ReusableArrays, Refusal> requireReusable(const SkillContext& context) {
    if (auto editable = requireEditable(context); !editable)
        return std::unexpected(editable.error());
    return findReusableArrays(context, context.shared().code());
}

/// Occupancy after the edit, which is higher.
std::expected<Occupancy, Refusal> occupancyAfter(const SkillContext& context,
                                                 std::uint64_t savedBytes) {
    const auto known = requireCompiled(context);
    if (!known)
        return std::unexpected(known.error());
    const CompiledKernel& compiled = **known;
    const auto room = requireRoomForWarps(compiled.occupancy);
    if (!room)
        return std::unexpected(room.error());
    const Occupancy& now = *room;
    BlockResources block = compiled.resources();
    block.sharedBytes -= std::min(block.sharedBytes, savedBytes);
    auto after = compiled.occupancyOf(block);
    if (!now.isLimitedBy(OccupancyLimiter::SharedMemory) || !after || after->blocks <= now.blocks)
        return refuse("shared-memory-does-not-limit",
                      fmt::format("{} bytes of shared memory a block instead of {} let no further "
                                  "block of {} threads in",
                                  block.sharedBytes, compiled.sharedBytes(),
                                  compiled.blockThreads));
    return *after;
}

class OccupancySharedMemoryTradeoff final : public Skill {
public:
    [[nodiscard]] std::string_view id() const override { return skillId; }

    [[nodiscard]] std::expected<Offer, Refusal>
    prepare(const SkillContext& context) const override {
        const auto found = requireReusable(context);
        if (!found)
            return std::unexpected(found.error());
        const auto after = occupancyAfter(context, found->savedBytes);
        if (!after)
            return std::unexpected(after.error());
        const FunctionBody& body = context.kernel.body;
        const CompiledKernel& compiled = *context.compiled;
        const std::string& kept = body.variable(found->kept).name;
        const std::string& placed = body.variable(found->placed).name;
        Offer offer;
        offer.skillId = skillId;
        offer.kernelName = context.kernel.qualifiedName;
        offer.anchor = body.stmt(found->placedDeclaration).span;
        offer.title = fmt::format("Put {} into the memory of {}", placed, kept);
        offer.why = fmt::format(
            "{} is not needed any more when {} is written first; {} bytes of shared memory a block "
            "leave room for {} blocks of {} threads on {}, {:.0f} % of its warps, and {} fewer for "
            "{}, {:.0f} %",
            body.variable(found->earlier).name, found->earlier == found->kept ? placed : kept,
            compiled.sharedBytes(), compiled.occupancy->blocks, compiled.blockThreads,
            compiled.architecture, compiled.occupancy->percent, found->savedBytes, after->blocks,
            after->percent);
        offer.numerics = Numerics::Exact;
        offer.gain = ExpectedGain{after->percent / compiled.occupancy->percent,
                                  "resident warps, after over before, where the kernel waits for "
                                  "what more of them would hide"};
        return offer;
    }

    [[nodiscard]] Result<EditSet> apply(const SkillContext& context,
                                        const Offer& /*offer*/) const override {
        const auto found = requireReusable(context);
        if (!found)
            return std::unexpected(unsupported(context, found.error()));
        const FunctionBody& body = context.kernel.body;
        const SourceText& source = *context.file.source;
        const SourceLayout layout(source, context.kernel);
        const Span placed = body.stmt(found->placedDeclaration).span;
        const Span kept = body.stmt(found->keptDeclaration).span;
        const std::string reference = fmt::format(
            "{0} (&{1}){2} = reinterpret_cast<{0} (&){2}>({3});", found->elementType,
            body.variable(found->placed).name, found->extents, body.variable(found->kept).name);
        std::vector<TextEdit> edits;
        if (kept.begin < placed.begin) {
            edits.push_back({placed, reference});
        } else { // It goes behind, with its comment.
            const Span line{layout.lineBegin(placed.begin), layout.lineAfter(placed.end)};
            const std::string text = rewritten(source, line, {{placed, reference}});
            const std::uint32_t behind = layout.lineAfter(kept.end);
            edits.push_back({line, ""});
            edits.push_back({{behind, behind}, text});
        }
        if (found->needsBarrierBefore != noId) {
            const Stmt& use = body.stmt(found->needsBarrierBefore);
            const std::uint32_t at =
                layout.lineBegin(use.pragma.empty() ? use.span.begin : use.pragmaSpan.begin);
            edits.push_back(
                {{at, at},
                 fmt::format("{}__syncthreads(); // The values of {} are not needed any more.{}",
                             layout.indentation(use.span.begin), body.variable(found->earlier).name,
                             layout.newline())});
        }
        return EditSet{{context.kernel.file, std::move(edits)}};
    }
};

} // namespace

std::unique_ptr<Skill> makeOccupancySharedMemoryTradeoff() {
    return std::make_unique<OccupancySharedMemoryTradeoff>();
}

} // namespace kernelskill::skills
