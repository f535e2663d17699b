/// Loads values where they are used instead of keeping them through a loop.
#include "analysis/queries/source_layout.h"
#include "skills/base/planned_skill.h"
#include "skills/gates/resource_gates.h"
#include "skills/live-range-reduction/early_loads.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Lines that belong to a statement and stand above it: its pragma, and comments.
std::uint32_t beginWithLead(const SourceText& source, const SourceLayout& layout,
                            const Stmt& stmt) {
    std::uint32_t begin = layout.lineBegin(beginWithPragma(stmt));
    for (std::uint32_t line = source.lineColumn(begin).line; line > 0; --line) {
        const std::string_view above = source.line(line - 1);
        const std::size_t text = above.find_first_not_of(" \t");
        if (text == std::string_view::npos || !above.substr(text).starts_with("//"))
            break;
        begin = source.lineSpan(line - 1).begin;
    }
    return begin;
}

std::uint32_t registersOf(const std::vector<EarlyLoad>& loads) {
    std::uint32_t registers = 0;
    for (const EarlyLoad& load : loads)
        registers += load.registers;
    return registers;
}

std::string namesOf(const SkillContext& context, const std::vector<EarlyLoad>& loads) {
    std::string names;
    for (const EarlyLoad& load : loads)
        names += (names.empty() ? "" : ", ") + context.kernel.body.variable(load.variable).name;
    return names;
}

/// The gain of shorter live ranges on this kernel.
struct Relief {
    std::string why;
    std::optional<ExpectedGain> gain;
};

Gated<Relief> reliefBy(const SkillContext& context, std::uint32_t registers) {
    KERNELSKILL_TRY(const auto known, requireCompiled(context));
    const CompiledKernel& compiled = *known;
    if (compiled.spilledBytes() >= minSpilledBytes)
        return Relief{fmt::format("{} spills {} bytes to local memory and loads {}",
                                  context.kernel.name, compiled.spillStoreBytes,
                                  compiled.spillLoadBytes),
                      std::nullopt};
    KERNELSKILL_TRY(const auto room, requireRoomForWarps(compiled.occupancy));
    const Occupancy& now = room;
    if (!now.isLimitedBy(OccupancyLimiter::Registers) || !now.fewerRegisters)
        return refuse("registers-do-not-limit",
                      fmt::format("fewer than {} registers a thread would let no further block of "
                                  "{} threads in",
                                  compiled.registers, compiled.blockThreads));
    if (now.fewerRegisters->fewer > registers)
        return refuse("too-few-registers",
                      fmt::format("the next block needs {} fewer registers a thread, and these "
                                  "values take {}",
                                  now.fewerRegisters->fewer, registers));
    return Relief{
        fmt::format("{} registers a thread leave room for {} blocks of {} threads on {}; with {} "
                    "fewer there is room for {}",
                    compiled.registers, now.blocks, compiled.blockThreads, compiled.architecture,
                    now.fewerRegisters->fewer, now.fewerRegisters->blocks),
        ExpectedGain{now.fewerRegisters->percent / now.percent,
                     "resident warps, after over before, where the kernel waits for what more of "
                     "them would hide"}};
}

class LiveRangeReductionSkill : public PlannedSkill<std::vector<EarlyLoad>> {
    Gated<std::vector<EarlyLoad>> plan(const SkillContext& context) const override {
        KERNELSKILL_CHECK(requireEditable(context));
        return findEarlyLoads(context, context.code());
    }

    Gated<Offer> offer(const SkillContext& context,
                       const std::vector<EarlyLoad>& loads) const override {
        const std::uint32_t registers = registersOf(loads);
        KERNELSKILL_TRY(const Relief relief, reliefBy(context, registers));
        const FunctionBody& body = context.kernel.body;
        Offer offer = newOffer(context, body.stmt(loads.front().declaration).span);
        offer.title = fmt::format("Load {} where {} used", namesOf(context, loads),
                                  loads.size() == 1 ? "it is" : "they are");
        offer.why = fmt::format(
            "{} {} {} registers through the loop on line {}, whose barriers keep the compiler from "
            "loading later; {}",
            namesOf(context, loads), loads.size() == 1 ? "takes" : "take", registers,
            lineNumber(context, body.stmt(loads.front().loop).span.begin), relief.why);
        offer.gain = relief.gain;
        return offer;
    }

    GatedEdits edits(const SkillContext& context,
                     const std::vector<EarlyLoad>& loads) const override {
        const SourceText& source = *context.file.source;
        const SourceLayout layout(source, context.kernel);
        const FunctionBody& body = context.kernel.body;
        std::vector<TextEdit> edits;
        std::map<std::uint32_t, std::string> moved; // By where it goes.
        for (const EarlyLoad& load : loads) {
            const Stmt& declaration = body.stmt(load.declaration);
            const Span lines{beginWithLead(source, layout, declaration),
                             layout.lineAfter(declaration.span.end)};
            edits.push_back({lines, ""});
            moved[beginWithLead(source, layout, body.stmt(load.firstUse))] += source.slice(lines);
        }
        for (const auto& [at, text] : moved)
            edits.push_back({{at, at}, text});
        return edits;
    }
};

} // namespace

KERNELSKILL_SKILL(LiveRangeReductionSkill)

} // namespace kernelskill::skills
