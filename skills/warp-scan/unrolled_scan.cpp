#include "skills/warp-scan/unrolled_scan.h"

#include "analysis/nest/nest.h"
#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/value_spelling.h"
#include "analysis/source/decimal.h"
#include "analysis/source/gpu_constants.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/block_collective.h"
#include "skills/gates/callees.h"
#include "skills/gates/launch_sites.h"
#include "skills/schedule/draft.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// `t = s[i - distance]; barrier; s[i] += t; barrier;`
struct Step {
    VariableId array = noId;
    VariableId index = noId;
    VariableId value = noId;
    ExprId element = noId; ///< `s[i]`
    std::int64_t distance = 0;
};

/// A scan, and what decides whether it spans the block.
struct Found {
    UnrolledScan scan;
    SpannedThreads zeros;   ///< The number of zeros in front of the block's elements.
    std::int64_t spans = 0; ///< The largest block whose elements the steps add up.
};

/// Reads the outermost block of one function.
class Reader {
public:
    explicit Reader(const SkillContext& context)
        : context_(context), code_(context.code()), body_(code_.body()) {}

    Gated<Found> find() const {
        const std::vector<StmtId> all =
            body_.root == noId ? std::vector<StmtId>{} : code_.statementsOf(body_.root);
        for (std::size_t at = 0; at < all.size(); ++at) {
            const auto step = stepAt(std::span(all).subspan(at));
            if (step && step->distance == 1)
                return read(all, at, *step);
        }
        return refuse("no-scan", fmt::format("{} has no doubling steps of a scan one after the "
                                             "other",
                                             context_.kernel.name));
    }

private:
    static constexpr std::size_t statementsOfStep = 4;

    [[nodiscard]] Gated<Found> read(const std::vector<StmtId>& all, std::size_t begin,
                                    const Step& first) const {
        Found found;
        std::int64_t distance = 1;
        std::size_t end = begin;
        while (const auto length = nextStep(std::span(all).subspan(end), first, distance)) {
            end += *length;
            distance *= 2;
        }
        found.spans = distance;
        found.scan.function = &context_.kernel;
        found.scan.first = all[begin];
        found.scan.last = all[end - 1];
        found.scan.array = first.array;
        found.scan.element = first.element;
        found.scan.value = first.value;
        const Type& type = body_.expr(first.element).type;
        found.scan.type = valueSpelling(type);
        if (!canShuffle(type) || found.scan.type.empty() ||
            valueSpelling(body_.variable(first.value).type) != found.scan.type)
            return refuse("no-shuffle", fmt::format("there is no shuffle for the elements of {}",
                                                    body_.variable(first.array).name));
        if (distance < warpLanes)
            return refuse("short-scan", fmt::format("the steps of {} add up {} elements, less "
                                                    "than a warp's",
                                                    context_.kernel.name, distance));
        const SourceLayout layout(*context_.file.source, context_.kernel);
        if (!hasOwnLines(body_, layout, found.scan.first, found.scan.last))
            return refuse("no-scan", fmt::format("the steps of {} share lines with other code",
                                                 context_.kernel.name));
        KERNELSKILL_TRY(found.zeros, readZeros(std::span(all).first(begin), first));
        return found;
    }

    /// Returns the number of statements of the step of that distance, which may stand in an `if`
    /// that blocks without such elements leave out.
    [[nodiscard]] std::optional<std::size_t>
    nextStep(std::span<const StmtId> rest, const Step& first, std::int64_t distance) const {
        const auto isNext = [&](const std::optional<Step>& step) {
            return step && step->distance == distance && step->array == first.array &&
                   step->index == first.index && step->value == first.value;
        };
        if (isNext(stepAt(rest)))
            return statementsOfStep;
        if (rest.empty() || body_.stmt(rest.front()).kind != StmtKind::If)
            return std::nullopt;
        const Stmt& branch = body_.stmt(rest.front());
        if (branch.children.size() != 1 || branch.fromMacro)
            return std::nullopt;
        const std::vector<StmtId> inside = code_.statementsOf(branch.children[0]);
        if (inside.size() != statementsOfStep || !isNext(stepAt(inside)) ||
            !isAbove(branch.condition, distance))
            return std::nullopt;
        return 1;
    }

    /// Whether the condition says that blocks have more threads than `distance`.
    [[nodiscard]] bool isAbove(ExprId condition, std::int64_t distance) const {
        const Expr& expr = body_.expr(code_.withoutCasts(condition));
        if (expr.kind != ExprKind::Binary || expr.op != ">" ||
            code_.constantValue(expr.children[1]) != distance)
            return false;
        const auto threads = polynomialOf(code_, expr.children[0]);
        return threads && spannedThreads(code_, *threads) && !threads->asConstant();
    }

    [[nodiscard]] std::optional<Step> stepAt(std::span<const StmtId> statements) const {
        if (statements.size() < statementsOfStep || !isBarrier(statements[1]) ||
            !isBarrier(statements[3]))
            return std::nullopt;
        const Expr* read = assignment(statements[0], "=");
        const Expr* add = assignment(statements[2], "+=");
        if (read == nullptr || add == nullptr)
            return std::nullopt;
        Step step;
        step.value = code_.namedVariable(read->children[0]);
        step.element = code_.withoutCasts(add->children[0]);
        const Expr& element = body_.expr(step.element);
        const Expr& before = body_.expr(code_.withoutCasts(read->children[1]));
        if (step.value == noId || code_.namedVariable(add->children[1]) != step.value ||
            element.kind != ExprKind::Subscript || before.kind != ExprKind::Subscript)
            return std::nullopt;
        step.array = code_.namedVariable(element.children[0]);
        step.index = code_.namedVariable(element.children[1]);
        if (step.array == noId || step.index == noId ||
            code_.namedVariable(before.children[0]) != step.array)
            return std::nullopt;
        const auto own = polynomialOf(code_, element.children[1]);
        const auto other = polynomialOf(code_, before.children[1]);
        const auto distance = own && other ? (*own - *other).asConstant() : std::nullopt;
        if (!distance || *distance <= 0)
            return std::nullopt;
        step.distance = *distance;
        return step;
    }

    [[nodiscard]] bool isBarrier(StmtId id) const { return isBlockBarrier(context_.kernel, id); }

    /// The assignment by `op` that the statement is, outside of macros; null if it is none.
    [[nodiscard]] const Expr* assignment(StmtId id, std::string_view op) const {
        const Stmt& stmt = body_.stmt(id);
        if (stmt.kind != StmtKind::Expression || stmt.expr == noId || stmt.fromMacro)
            return nullptr;
        const Expr& expr = body_.expr(stmt.expr);
        return expr.kind == ExprKind::Binary && expr.op == op ? &expr : nullptr;
    }

    /// Follows the statements in front of the steps: `int i = threadIdx.x; s[i] = 0; i += threads;
    /// s[i] = value; barrier`. Returns the number that the index is moved by.
    [[nodiscard]] Gated<SpannedThreads> readZeros(std::span<const StmtId> before,
                                                  const Step& step) const {
        const auto no = [&](std::string_view why) {
            return refuse("no-scan",
                          fmt::format("{} {} in front of the elements of {}", context_.kernel.name,
                                      why, body_.variable(step.array).name));
        };
        enum class Next : std::uint8_t { Zeros, Move, Elements, Barrier, Steps };
        Next next = Next::Zeros;
        std::optional<SpannedThreads> threads;
        for (const StmtId id : before) {
            if (const Expr* move = assignment(id, "+=");
                move != nullptr && code_.namedVariable(move->children[0]) == step.index) {
                const auto moved = polynomialOf(code_, move->children[1]);
                threads = moved ? spannedThreads(code_, *moved) : std::nullopt;
                if (next != Next::Move || !threads)
                    return no("does not leave as many zeros as a block has threads");
                next = Next::Elements;
            } else if (const Expr* store = storeOf(id, step)) {
                const bool isFirst = next == Next::Zeros;
                if ((!isFirst && next != Next::Elements) || isFirst != isZero(store->children[1]))
                    return no("does not store a zero");
                next = isFirst ? Next::Move : Next::Barrier;
            } else if (isBarrier(id)) {
                next = next == Next::Barrier ? Next::Steps : next;
            }
        }
        const Variable& index = body_.variable(step.index);
        const auto begin = index.init == noId ? std::nullopt : polynomialOf(code_, index.init);
        if (next != Next::Steps || begin != IndexExpression::symbol({SymbolKind::ThreadIdx, 0}))
            return no("does not store a zero for each thread");
        if (writesTo(step.index) != 1 || storesTo(step.array, before) != 2)
            return no("stores more than a zero for each thread");
        return *threads;
    }

    /// The assignment to the thread's own element that the statement is; null if it is none.
    [[nodiscard]] const Expr* storeOf(StmtId id, const Step& step) const {
        const Expr* store = assignment(id, "=");
        if (store == nullptr)
            return nullptr;
        return code_.sameExpression(code_.withoutCasts(store->children[0]), step.element) ? store
                                                                                          : nullptr;
    }

    [[nodiscard]] bool isZero(ExprId id) const {
        const Expr& value = body_.expr(code_.withoutCasts(id));
        return (value.kind == ExprKind::Integer && value.integer == 0) ||
               (value.kind == ExprKind::Floating && value.floating == 0);
    }

    [[nodiscard]] std::ptrdiff_t writesTo(VariableId variable) const {
        return std::ranges::count_if(code_.uses(variable),
                                     [&](ExprId use) { return code_.isWrite(use); });
    }

    /// The number of accesses in the statements that write to the array, or may.
    [[nodiscard]] std::ptrdiff_t storesTo(VariableId array,
                                          std::span<const StmtId> statements) const {
        return std::ranges::count_if(context_.kernel.accesses, [&](const MemoryAccess& access) {
            return access.kind != AccessKind::Read && access.expression != noId &&
                   (access.base == array || access.base == noId) &&
                   std::ranges::any_of(
                       statements, [&](StmtId id) { return code_.holds(id, access.expression); });
        });
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
};

/// Asks the launches of a kernel whether their blocks fit a scan that they come to.
class BlocksThatCome {
public:
    BlocksThatCome(const SkillContext& kernel, const Found& found)
        : kernel_(kernel), nest_(kernel.shared().nest()), found_(found) {}

    /// Returns the most threads of a block that comes; 0 if none does.
    [[nodiscard]] Gated<std::int64_t> largest() const {
        std::int64_t most = 0;
        for (const NestFrame& frame : nest_.frames)
            if (&functionOf(kernel_.file, kernel_.kernel, frame) == found_.scan.function) {
                KERNELSKILL_TRY(const std::int64_t threads, largestAt(frame));
                most = std::max(most, threads);
            }
        return most;
    }

private:
    [[nodiscard]] Gated<std::int64_t> largestAt(const NestFrame& frame) const {
        KERNELSKILL_CHECK(requireAll(frame));
        KERNELSKILL_TRY(const SpannedThreads zeros, zerosAt(frame));
        KERNELSKILL_CHECK(requireWholeWarps(kernel_, zeros, WarpCount::Any));
        KERNELSKILL_TRY(const auto blocks, launchedBlocks(kernel_));
        std::int64_t most = 0;
        for (const Extents& block : blocks)
            most = std::max(most, block[0]);
        if (most > found_.spans)
            return refuse("short-scan",
                          fmt::format("the steps add up {} elements, and {} is launched with "
                                      "blocks of {} threads",
                                      found_.spans, kernel_.kernel.name, most));
        return most;
    }

    /// All threads of a block come to the steps, by all calls that lead there.
    [[nodiscard]] Gated<void> requireAll(const NestFrame& frame) const {
        const SkillContext scanning = contextOf(frame);
        KERNELSKILL_CHECK(requireAllThreads(scanning, scanning.code(), found_.scan.first));
        for (const NestFrame* at = &frame; at->caller != noId; at = &nest_.frames[at->caller]) {
            const SkillContext caller = contextOf(nest_.frames[at->caller]);
            KERNELSKILL_CHECK(
                requireAllThreads(caller, caller.code(), caller.code().statement(at->call)));
        }
        return {};
    }

    [[nodiscard]] SkillContext contextOf(const NestFrame& frame) const {
        return frame.caller == noId ? kernel_
                                    : kernel_.in(functionOf(kernel_.file, kernel_.kernel, frame));
    }

    /// The number of zeros at a call: a template argument may say it.
    [[nodiscard]] Gated<SpannedThreads> zerosAt(const NestFrame& frame) const {
        const SpannedThreads& zeros = found_.zeros;
        if (zeros.variable == noId || frame.caller == noId)
            return zeros;
        const KernelModel& function = *found_.scan.function;
        const auto parameter = std::ranges::find(function.templateParameters,
                                                 function.body.variable(zeros.variable).name,
                                                 &TemplateParameter::name);
        const auto at = static_cast<std::size_t>(parameter - function.templateParameters.begin());
        const SkillContext caller = contextOf(nest_.frames[frame.caller]);
        const auto& arguments = caller.code().body().expr(frame.call).templateArguments;
        std::optional<std::int64_t> threads;
        if (parameter != function.templateParameters.end() && at < arguments.size())
            threads = decimalIn(arguments[at]);
        if (!threads && at < arguments.size() && nest_.frames[frame.caller].caller == noId)
            if (const auto known = nest_.instantiation.find(arguments[at]);
                known != nest_.instantiation.end())
                threads = decimalIn(known->second);
        if (!threads)
            return refuse("unknown-extent",
                          fmt::format("the number of zeros in front of the elements of {} is not "
                                      "known at its call in {}",
                                      function.name, caller.kernel.name));
        return SpannedThreads{.constant = threads};
    }

    const SkillContext& kernel_;
    const Nest& nest_;
    const Found& found_;
};

Gated<UnrolledScan> scanIn(const SkillContext& context, const SkillContext& function) {
    KERNELSKILL_TRY(Found found, Reader(function).find());
    for (const KernelModel& kernel : context.file.kernels) {
        const SkillContext launched = &kernel == &context.kernel ? context : context.in(kernel);
        auto most = BlocksThatCome(launched, found).largest();
        if (!most && !kernel.launches.empty())
            return std::unexpected(std::move(most).error());
        found.scan.largestBlock = std::max(found.scan.largestBlock, most.value_or(found.spans));
        if (!most)
            found.scan.unknownBlocks = std::move(most).error();
    }
    return found.scan;
}

} // namespace

Gated<UnrolledScan> findUnrolledScan(const SkillContext& context) {
    KERNELSKILL_CHECK(requireEditable(context));
    auto found = scanIn(context, context);
    for (const KernelModel* function : editableCallees(context)) {
        if (found || found.error().gate != "no-scan")
            break;
        found = scanIn(context, context.in(*function));
    }
    return found;
}

} // namespace kernelskill::skills
