/// Replaces functions of float by what the special-function units compute in a few instructions.
#include "analysis/model/scalar_kinds.h"
#include "skills/base/planned_skill.h"
#include "skills/fast-math-intrinsics/float_decisions.h"
#include "skills/fast-math-intrinsics/replacements.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Below so many instructions for a byte of global memory arithmetic cannot decide: the GPU with
/// the most bandwidth for its instructions (B200) issues 5 while DRAM moves one, and its L2 cache
/// moves about twice as many.
constexpr double instructionsPerByte = 2;

/// The work of one round of a loop, or of the code outside of all loops.
struct Level {
    int instructions = 0; ///< The instructions of the arithmetic written there.
    int saved = 0;
    std::uint32_t bytes = 0; ///< The bytes of global memory a thread.
};

class FastMathIntrinsicsSkill : public PlannedSkill<std::vector<Replacement>> {
    /// Those at the cursor, else all of the kernel.
    Gated<std::vector<Replacement>> plan(const SkillContext& context) const override {
        KERNELSKILL_CHECK(requireEditable(context));
        std::vector<Replacement> all = findReplacements(context.code());
        if (all.empty())
            return refuse("nothing-to-replace",
                          fmt::format("{} computes nothing in float that has an approximate "
                                      "intrinsic",
                                      context.kernel.name));
        std::vector<Replacement> here;
        for (const Replacement& replacement : all)
            if (isAt(context, replacement))
                here.push_back(replacement);
        return here.empty() ? all : here;
    }

    Gated<Offer> offer(const SkillContext& context,
                       const std::vector<Replacement>& found) const override {
        const CodeMap& code = context.code();
        const bool isExact = std::ranges::all_of(found, &Replacement::isExact);
        if (const StmtId loop = loopThatFloatsEnd(code); loop != noId && !isExact)
            return refuse("floats-end-a-loop",
                          fmt::format("a comparison of floating-point values ends the loop on line "
                                      "{}; less precise ones may end it rounds earlier or later",
                                      lineNumber(context, code.body().stmt(loop).span.begin)));
        if (const ExprId rounded = floatMadeInteger(code); rounded != noId && !isExact)
            return refuse(
                "floats-become-integers",
                fmt::format("line {} makes an integer of a floating-point value; where it "
                            "lies near a step, a less precise one gives another integer",
                            lineNumber(context, code.body().expr(rounded).span.begin)));
        const Level level = bestLevel(context, code, found);
        if (level.bytes > 0 && level.instructions < instructionsPerByte * level.bytes)
            return refuse("memory-decides",
                          fmt::format("about {} instructions stand beside {} bytes of global "
                                      "memory; what the intrinsics save would not be seen",
                                      level.instructions, level.bytes));
        Offer offer =
            newOffer(context, isWholeKernel(context) ? context.kernel.bodySpan
                                                     : code.body().expr(found.front().expr).span);
        offer.title =
            fmt::format("Use {} for {}", isExact ? "literals of float" : "approximate intrinsics",
                        names(found));
        offer.why = fmt::format(
            "{} on line {}{} take{} about {} instructions where {} would do; {}", names(found),
            lineNumber(context, code.body().expr(found.front().expr).span.begin),
            found.size() == 1   ? ""
            : found.size() == 2 ? " and in one more place"
                                : fmt::format(" and in {} more places", found.size() - 1),
            found.size() == 1 ? "s" : "", total(found, &Replacement::instructions),
            total(found, &Replacement::instructions) - total(found, &Replacement::saved),
            isExact ? "the results stay as they are"
                    : "results change in the last bits or more, as the review measures");
        offer.numerics = isExact ? Numerics::Exact : Numerics::ReducedPrecision;
        offer.error.emplace();
        for (const Replacement& replacement : found)
            *offer.error += errorOf(replacement);
        offer.gain = ExpectedGain{
            static_cast<double>(level.instructions) / (level.instructions - level.saved),
            fmt::format(
                "{} of about {} instructions {} are saved (sm_90, nvcc 13.0), if arithmetic "
                "takes all the time",
                level.saved, level.instructions,
                context.kernel.loops.empty() ? "a thread" : "a round")};
        return offer;
    }

    GatedEdits edits(const SkillContext& context,
                     const std::vector<Replacement>& found) const override {
        return replacementEdits(context, context.code(), found);
    }

    /// The cursor is not at one of the places alone.
    static bool isWholeKernel(const SkillContext& context) {
        return std::ranges::none_of(
            findReplacements(context.code()),
            [&](const Replacement& replacement) { return isAt(context, replacement); });
    }

    static bool isAt(const SkillContext& context, const Replacement& replacement) {
        return context.isCursorAt(context.kernel.body.expr(replacement.expr).span);
    }

    static int total(const std::vector<Replacement>& found, int Replacement::* part) {
        int sum = 0;
        for (const Replacement& replacement : found)
            sum += replacement.*part;
        return sum;
    }

    static std::string names(const std::vector<Replacement>& found) {
        std::vector<std::string_view> seen;
        std::string text;
        for (const Replacement& replacement : found) {
            if (std::ranges::find(seen, replacement.was) != seen.end())
                continue;
            text += fmt::format("{}{}", seen.empty() ? "" : ", ", replacement.was);
            seen.push_back(replacement.was);
        }
        return text;
    }

    /// The innermost loop around `stmt`; noId outside of all.
    static StmtId loopAround(const CodeMap& code, StmtId stmt) {
        for (; stmt != noId; stmt = code.body().stmt(stmt).parent) {
            const StmtKind kind = code.body().stmt(stmt).kind;
            if (kind == StmtKind::For || kind == StmtKind::While || kind == StmtKind::Do)
                return stmt;
        }
        return noId;
    }

    /// Where the most is saved for what stands beside.
    static Level bestLevel(const SkillContext& context, const CodeMap& code,
                           const std::vector<Replacement>& found) {
        const FunctionBody& body = code.body();
        std::map<StmtId, Level> levels;
        for (const Replacement& replacement : found) {
            Level& level = levels[loopAround(code, code.statement(replacement.expr))];
            level.saved += replacement.saved;
            level.instructions += replacement.instructions;
        }
        for (ExprId id = 0; id < body.exprs.size(); ++id) {
            const ExprKind kind = body.expr(id).kind;
            const bool isInstruction = kind == ExprKind::Binary || kind == ExprKind::Unary ||
                                       kind == ExprKind::Call || kind == ExprKind::Subscript;
            if (!isInstruction || code.statement(id) == noId ||
                std::ranges::find(found, id, &Replacement::expr) != found.end())
                continue;
            const auto level = levels.find(loopAround(code, code.statement(id)));
            if (level != levels.end())
                ++level->second.instructions;
        }
        for (const MemoryAccess& access : context.kernel.accesses) {
            if (access.space != MemorySpace::Global || access.expression == noId)
                continue;
            const auto level = levels.find(loopAround(code, code.statement(access.expression)));
            if (level != levels.end())
                level->second.bytes += access.width;
        }
        const auto best = std::ranges::max_element(levels, {}, [](const auto& entry) {
            const Level& level = entry.second;
            const double perByte =
                static_cast<double>(level.instructions) / (level.bytes > 0 ? level.bytes : 1);
            // Loops first, since they repeat; then where arithmetic weighs most.
            return std::pair(entry.first != noId, perByte);
        });
        return best->second;
    }
};

} // namespace

KERNELSKILL_SKILL(FastMathIntrinsicsSkill)

} // namespace kernelskill::skills
