/// Replaces the doubling steps of a block's scan by warp shuffles.
#include "analysis/model/scalar_kinds.h"
#include "skills/base/planned_skill.h"
#include "skills/warp-scan/block_scan.h"
#include "skills/warp-scan/scan_writer.h"
#include "skills/warp-scan/unrolled_scan.h"
#include "skills/warp-scan/unrolled_writer.h"

#include <spdlog/fmt/fmt.h>

#include <string>
#include <utility>
#include <variant>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The steps as a loop, or one after the other.
using FoundScan = std::variant<BlockScan, UnrolledScan>;

class WarpScanSkill : public VariedSkill<FoundScan, NoOption> {
    Gated<FoundScan> plan(const SkillContext& context) const override {
        auto loop = findScan(context, context.code());
        if (loop)
            return *std::move(loop);
        auto unrolled = findUnrolledScan(context);
        if (unrolled)
            return *std::move(unrolled);
        return std::unexpected(unrolled.error().gate == "no-scan" ? std::move(loop).error()
                                                                  : std::move(unrolled).error());
    }

    Gated<std::vector<Offer>> offers(const SkillContext& context,
                                     const FoundScan& found) const override {
        if (const auto* loop = std::get_if<BlockScan>(&found))
            return std::vector{offerOf(context, *loop)};
        const auto& unrolled = std::get<UnrolledScan>(found);
        if (unrolled.unknownBlocks)
            return std::unexpected(*unrolled.unknownBlocks);
        return std::vector{offerOf(context, unrolled)};
    }

    /// A program shows whether its blocks, of which the file says nothing, are whole warps.
    Gated<std::vector<Offer>> trials(const SkillContext& context,
                                     const FoundScan& found) const override {
        return std::vector{offerOf(context, std::get<UnrolledScan>(found))};
    }

    [[nodiscard]] Offer offerOf(const SkillContext& context, const BlockScan& scan) const {
        const FunctionBody& body = context.kernel.body;
        const Variable& array = body.variable(scan.names.array);
        Offer offer =
            offerOf(context, array.name, body.stmt(context.kernel.loops[scan.loop].statement).span,
                    array.type.scalar);
        offer.why = fmt::format("the loop on line {} scans {} in shared memory with two barriers a "
                                "step; every launch has whole warps",
                                lineNumber(context, offer.anchor.begin), array.name);
        return offer;
    }

    [[nodiscard]] Offer offerOf(const SkillContext& context, const UnrolledScan& scan) const {
        const FunctionBody& body = scan.function->body;
        const Span first = body.stmt(scan.first).span;
        Offer offer = offerOf(context, body.variable(scan.array).name,
                              scan.function == &context.kernel ? first : context.kernel.nameSpan,
                              body.expr(scan.element).type.scalar);
        offer.why = fmt::format("the steps from line {} on scan {} in shared memory with two "
                                "barriers each; {}",
                                lineNumber(context, first.begin), body.variable(scan.array).name,
                                scan.unknownBlocks ? "right for blocks of whole warps"
                                                   : "every launch has whole warps");
        return offer;
    }

    [[nodiscard]] Offer offerOf(const SkillContext& context, const std::string& array, Span anchor,
                                ScalarKind element) const {
        Offer offer = newOffer(context, anchor);
        offer.title = fmt::format("Scan {} with warp shuffles", array);
        const bool isInteger = isIntegerScalar(element);
        offer.numerics = isInteger ? Numerics::Exact : Numerics::Reassociates;
        return offer;
    }

    GatedEdits editsFor(const SkillContext& context, const FoundScan& found,
                        NoOption) const override {
        if (const auto* scan = std::get_if<BlockScan>(&found))
            return scanEdits(context, context.code(), *scan);
        const auto& scan = std::get<UnrolledScan>(found);
        return unrolledEdits(
            scan.function == &context.kernel ? context : context.in(*scan.function), scan);
    }
};

} // namespace

KERNELSKILL_SKILL(WarpScanSkill)

} // namespace kernelskill::skills
