#include "skills/invariant-hoisting/block_value.h"

#include "analysis/queries/value_spelling.h"
#include "analysis/source/gpu_constants.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/editing/fresh_names.h"
#include "skills/editing/operand_text.h"
#include "skills/gates/launch_sites.h"
#include "skills/gates/thread_position.h"
#include "skills/invariant-hoisting/hoist.h"
#include "skills/invariant-hoisting/pure_values.h"
#include "skills/schedule/fold_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Instructions that a thread has to save before a barrier at the beginning of a block pays: one
/// power of float, or two exponentials, do not; two powers, or one of double, do (H200).
constexpr double barrierPays = 140;

class BlockValueFinder {
public:
    explicit BlockValueFinder(const SkillContext& context)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()),
          values_(context, [this](const Expr& name) { return isUniform(name); }) {}

    Gated<std::vector<BlockValue>> find() {
        for (const MathCall& math : kernel_.mathCalls) {
            const auto function = costlyFunction(body_.expr(math.call));
            if (function && values_.isPure(math.call) && namesAnything(math.call))
                consider(math.call, *function);
        }
        if (found_.empty() && refusal_)
            return std::unexpected(*std::move(refusal_));
        if (found_.empty())
            return refuse("no-uniform-function",
                          fmt::format("no function of many instructions in {} has arguments that "
                                      "are the same for all threads of a block",
                                      kernel_.name));
        if (instructions_ < barrierPays)
            return refuse("cheap-function",
                          fmt::format("what all threads of {} compute alike takes about {} "
                                      "instructions, no more than a barrier costs",
                                      kernel_.name, instructions_));
        KERNELSKILL_CHECK(requireSeveralWarps());
        KERNELSKILL_CHECK(requireSharedMemory());
        return std::move(found_);
    }

private:
    [[nodiscard]] bool isUniform(const Expr& name) const {
        if (name.kind == ExprKind::BuiltinIndex)
            return name.name != "threadIdx";
        return body_.variable(name.variable).storage == Storage::Parameter &&
               !code_.isEverWritten(name.variable);
    }

    [[nodiscard]] bool namesAnything(ExprId call) const {
        return std::ranges::any_of(code_.expressionsBelow(call), [&](ExprId id) {
            return body_.expr(id).kind == ExprKind::Variable ||
                   body_.expr(id).kind == ExprKind::BuiltinIndex;
        });
    }

    void keep(std::string gate, std::string reason) {
        if (!refusal_)
            refusal_ = Refusal{std::move(gate), std::move(reason)};
    }

    void consider(ExprId call, const CostlyFunction& function) {
        const Expr& expr = body_.expr(call);
        const std::uint32_t line = lineNumber(context_, expr.span.begin);
        if (const StmtId around = conditionAround(call); around != noId) {
            keep("under-condition",
                 fmt::format("only some threads may evaluate {}, by line {}", expr.name,
                             lineNumber(context_, body_.stmt(around).span.begin)));
            return;
        }
        const ExprId largest = values_.largestAround(call);
        if (!values_.isSpelled(largest)) {
            keep("from-macro", fmt::format("{} on line {} comes out of a macro", expr.name, line));
            return;
        }
        for (BlockValue& known : found_)
            if (code_.sameExpression(known.uses.front(), largest)) {
                if (std::ranges::find(known.uses, largest) != known.uses.end())
                    instructions_ += function.instructions;
                else // The compiler evaluates both at once.
                    known.uses.push_back(largest);
                return;
            }
        instructions_ += function.instructions;
        found_.push_back({{largest}, function});
    }

    /// The statement other than a bounds check that decides whether, or how often, the expression
    /// is evaluated; noId: none.
    [[nodiscard]] StmtId conditionAround(ExprId call) const {
        const StmtId own = code_.statement(call);
        for (ExprId at = call; at != noId; at = code_.parent(at))
            if (code_.mayBeSkipped(at))
                return own;
        for (StmtId at = own; at != noId; at = body_.stmt(at).parent) {
            const StmtKind kind = body_.stmt(at).kind;
            const bool isGuard = std::ranges::any_of(kernel_.branches, [&](const Branch& branch) {
                return branch.statement == at && branch.isBoundsGuard;
            });
            const bool isPlain = kind == StmtKind::Compound || kind == StmtKind::Declaration ||
                                 kind == StmtKind::Expression || kind == StmtKind::Return;
            if (!isPlain && !(kind == StmtKind::If && isGuard))
                return at;
        }
        return noId;
    }

    [[nodiscard]] Gated<void> requireSeveralWarps() const {
        const auto blocks = launchedBlocks(context_);
        if (!blocks)
            return {};
        for (const Extents& block : *blocks)
            if (block[0] * block[1] * block[2] <= warpLanes)
                return refuse("kernel-of-one-warp",
                              fmt::format("blocks of {} have one warp, whose lanes compute the "
                                          "value at once",
                                          kernel_.name));
        return {};
    }

    [[nodiscard]] Gated<void> requireSharedMemory() const {
        constexpr std::uint64_t maxStaticBytes = 48 * 1024;
        std::uint64_t bytes = found_.size() * sizeof(double);
        for (const SharedArray& array : kernel_.sharedArrays)
            bytes += array.bytes;
        if (bytes > maxStaticBytes)
            return refuse(
                "shared-memory-full",
                fmt::format("{} has no room for more static shared memory", kernel_.name));
        return {};
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    PureValues values_;
    std::vector<BlockValue> found_;
    std::optional<Refusal> refusal_;
    double instructions_ = 0;
};

/// Returns the condition that one thread of the block alone fulfils.
std::string firstThreadCondition(const SkillContext& context) {
    constexpr std::array<std::string_view, 3> axes = {"x", "y", "z"};
    const auto blocks = launchedBlocks(context);
    std::string text;
    for (std::uint8_t axis = 0; axis < axes.size(); ++axis) {
        const bool isFlat =
            blocks ? std::ranges::all_of(*blocks,
                                         [&](const Extents& block) { return block[axis] == 1; })
                   : !usesThread(context.kernel.body, axis);
        if (axis == 0 || !isFlat)
            text += fmt::format("{}threadIdx.{} == 0", text.empty() ? "" : " && ", axes[axis]);
    }
    return text;
}

} // namespace

Gated<std::vector<BlockValue>> blockValues(const SkillContext& context) {
    return BlockValueFinder(context).find();
}

std::vector<std::string> sharedNames(const SkillContext& context,
                                     const std::vector<BlockValue>& values) {
    const FunctionBody& body = context.kernel.body;
    FreshNames fresh(body);
    std::vector<std::string> names;
    for (const BlockValue& value : values) {
        const StmtId statement = context.code().statement(value.uses.front());
        const Stmt& stmt = body.stmt(statement);
        std::string wanted = nameOfUse(context, value.uses.front(), value.function.noun);
        for (const VariableId declared : stmt.declared)
            if (body.variable(declared).init == value.uses.front())
                wanted = body.variable(declared).name;
        names.push_back(fresh.add(joinedName(context, "block", wanted)));
    }
    return names;
}

void computeOnce(Draft& draft, const SkillContext& context, const std::vector<BlockValue>& values,
                 const std::vector<std::string>& names) {
    const FunctionBody& body = context.kernel.body;
    const SourceText& source = *context.file.source;
    std::vector<std::string> lines;
    std::vector<std::string> computed;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const Expr& first = body.expr(values[i].uses.front());
        lines.push_back(fmt::format("__shared__ {} {};", valueSpelling(first.type), names[i]));
        computed.push_back(fmt::format("{} = {};", names[i], source.slice(first.span)));
        for (const ExprId use : values[i].uses)
            draft.replace(withParentheses(source, body.expr(use).span), names[i]);
    }
    for (std::string& line : draft.controlled(fmt::format("if ({})", firstThreadCondition(context)),
                                              std::move(computed)))
        lines.push_back(std::move(line));
    lines.emplace_back("__syncthreads();");
    writeHead(draft, context, lines);
}

} // namespace kernelskill::skills
