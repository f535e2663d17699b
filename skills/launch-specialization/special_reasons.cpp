#include "skills/launch-specialization/special_reasons.h"

#include "analysis/model/integer_arithmetic.h"
#include "analysis/queries/launch_intervals.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Loops of more rounds are not unrolled: the code would grow too much.
constexpr std::int64_t maxRounds = 32;
constexpr std::int64_t minRounds = 2;
/// The same for a loop that is in no other loop and indexes no array of the thread.
constexpr std::int64_t maxPlainRounds = 16;
/// Instructions of a round for the loop itself: count, compare, branch, addresses.
constexpr double loopCost = 4;
/// The cost of the local memory accesses to one element, which registers save.
constexpr double localCost = 30;
constexpr double longDivisionCost = 100;
constexpr double divisionCost = 20;
constexpr double branchCost = 3;
/// Assumed for loops whose number of rounds is not known.
constexpr double usualRounds = 16;

bool isLong(const Type& type) {
    return type.scalar == ScalarKind::Int64 || type.scalar == ScalarKind::UInt64;
}

bool isIntegerValue(const Type& type) {
    return type.pointerDepth == 0 && type.scalar >= ScalarKind::Bool &&
           type.scalar <= ScalarKind::UInt64;
}

/// Evaluates integers of a nest with values given for some of the kernel's parameters.
class NestValues {
public:
    NestValues(const KernelModel& kernel, const Nest& nest, const GivenValues& given)
        : nest_(nest) {
        for (const Parameter& parameter : kernel.parameters)
            if (const auto value = given.find(parameter.variable); value != given.end())
                values_[parameter.name] = value->second;
    }

    /// The rounds of a loop that each thread runs whole; nullopt if they are not known.
    [[nodiscard]] std::optional<std::int64_t> rounds(const NestLoop& loop) const {
        if (loop.style != NestLoopStyle::Serial || !loop.first || !loop.end || !loop.step)
            return std::nullopt;
        const auto step = of(*loop.step);
        const auto distance = IndexExpression::difference(*loop.end, *loop.first);
        const auto length = distance ? of(*distance) : std::nullopt;
        if (!step || !length || *step == 0)
            return std::nullopt;
        return std::max<std::int64_t>(0,
                                      (std::abs(*length) + std::abs(*step) - 1) / std::abs(*step));
    }

private:
    [[nodiscard]] std::optional<std::int64_t> of(const IndexExpression& expression,
                                                 int depth = 0) const {
        constexpr int maxDepth = 8;
        std::map<Symbol, std::int64_t> values;
        for (const auto& [monomial, factor] : expression.terms())
            for (const Symbol symbol : monomial) {
                const auto value = depth < maxDepth ? of(symbol, depth + 1) : std::nullopt;
                if (!value)
                    return std::nullopt;
                values[symbol] = *value;
            }
        return expression.evaluate(values);
    }
    [[nodiscard]] std::optional<std::int64_t> of(Symbol symbol, int depth) const {
        const NestSymbol* named = nest_.symbols.find(symbol);
        if (named == nullptr)
            return std::nullopt;
        if (named->kind == NestSymbolKind::Parameter) {
            const auto value = values_.find(named->name);
            return value == values_.end() ? std::nullopt : std::optional(value->second);
        }
        if (named->kind != NestSymbolKind::Derived || named->operands.size() != 2)
            return std::nullopt;
        const auto left = of(named->operands[0], depth);
        const auto right = of(named->operands[1], depth);
        return left && right ? integerResult(named->op, *left, *right) : std::nullopt;
    }

    const Nest& nest_;
    std::map<std::string, std::int64_t> values_;
};

class ReasonFinder {
public:
    ReasonFinder(const SkillContext& context, const GivenValues& given)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()),
          given_(given) {}

    std::vector<SpecialReason> find() {
        for (const Loop& loop : kernel_.loops)
            addLoop(loop);
        addCalledLoops();
        for (ExprId id = 0; id < body_.exprs.size(); ++id)
            addExpression(id);
        for (const Stmt& stmt : body_.stmts)
            if ((stmt.kind == StmtKind::If || stmt.kind == StmtKind::Switch) &&
                stmt.condition != noId)
                addBranch(stmt.condition);
        std::ranges::stable_sort(reasons_, std::ranges::greater{}, &SpecialReason::weight);
        return std::move(reasons_);
    }

private:
    /// Adds the reason if `isTold` holds of all values and not without any. Its parameters become
    /// those whose values isTold() needs.
    template <typename IsTold>
    void add(SpecialReason reason, const IsTold& isTold) {
        if (isTold({}) || !isTold(given_))
            return;
        for (std::uint32_t i = 0; i < kernel_.parameters.size(); ++i) {
            GivenValues others = given_;
            if (others.erase(kernel_.parameters[i].variable) > 0 && !isTold(others))
                reason.parameters.push_back(i);
        }
        if (!reason.parameters.empty() && reason.parameters.size() <= maxSpecialParameters)
            reasons_.push_back(std::move(reason));
    }

    void addLoop(const Loop& loop) {
        const auto rounds = roundsWith(code_, given_, loop);
        if (!rounds || *rounds < minRounds || *rounds > maxRounds || !leavesIndexAlone(code_, loop))
            return;
        SpecialReason reason;
        reason.use = SpecialUse::Loop;
        reason.place = body_.stmt(loop.statement).span;
        reason.loop = loop.statement;
        reason.rounds = *rounds;
        reason.array = ownArrayIn(loop);
        const bool isPlain = reason.array.empty() && loop.parent == noId;
        if (isPlain && *rounds > maxPlainRounds)
            return;
        const double around = roundsAround(loop.parent);
        reason.weight = around * static_cast<double>(*rounds) *
                        (loopCost + (reason.array.empty() ? 0 : localCost));
        add(std::move(reason),
            [&](const GivenValues& values) { return roundsWith(code_, values, loop).has_value(); });
    }

    /// Adds loops of functions that the kernel calls.
    void addCalledLoops() {
        const Nest& nest = context_.shared().nest();
        const NestValues values(kernel_, nest, given_);
        for (const NestNode& node : nest.nodes) {
            const NestLoop* loop = node.loop();
            if (loop == nullptr || node.frame == 0 || loop->variable == noId)
                continue;
            const auto rounds = values.rounds(*loop);
            if (!rounds || *rounds < minRounds || *rounds > maxPlainRounds)
                continue;
            std::uint32_t frame = node.frame;
            while (nest.frames[frame].caller != 0)
                frame = nest.frames[frame].caller;
            const ExprId call = nest.frames[frame].call;
            SpecialReason reason;
            reason.use = SpecialUse::Loop;
            reason.place = body_.expr(call).span;
            reason.rounds = *rounds;
            reason.weight = roundsAroundExpression(call) * static_cast<double>(*rounds) * loopCost;
            add(std::move(reason), [&](const GivenValues& known) {
                return NestValues(kernel_, nest, known).rounds(*loop).has_value();
            });
        }
    }

    void addExpression(ExprId id) {
        const Expr& expr = body_.expr(id);
        if (expr.kind == ExprKind::Conditional)
            return addBranch(expr.children[0]);
        const bool divides =
            expr.kind == ExprKind::Binary && expr.children.size() == 2 &&
            (expr.op == "/" || expr.op == "%" || expr.op == "/=" || expr.op == "%=") &&
            isIntegerValue(expr.type) && isIntegerValue(body_.expr(expr.children[1]).type);
        if (!divides)
            return;
        const ExprId divisor = expr.children[1];
        const auto value = valueWith(code_, given_, divisor);
        if (!value || *value == 0 || valueWith(code_, given_, expr.children[0]))
            return;
        // The compiler makes quotient and remainder by one division.
        const bool isKnown = std::ranges::any_of(divisions_, [&](ExprId other) {
            const std::vector<ExprId>& operands = body_.expr(other).children;
            return code_.sameExpression(operands[0], expr.children[0]) &&
                   code_.sameExpression(operands[1], divisor);
        });
        if (isKnown)
            return;
        divisions_.push_back(id);
        SpecialReason reason;
        reason.use = SpecialUse::Division;
        reason.place = expr.span;
        reason.weight =
            roundsAroundExpression(id) * (isLong(expr.type) ? longDivisionCost : divisionCost);
        add(std::move(reason), [&](const GivenValues& values) {
            return valueWith(code_, values, divisor).has_value();
        });
    }

    void addBranch(ExprId condition) {
        if (loopAround(condition) == noId)
            return;
        SpecialReason reason;
        reason.use = SpecialUse::Branch;
        reason.place = body_.expr(condition).span;
        reason.weight = roundsAroundExpression(condition) * branchCost;
        add(std::move(reason),
            [&](const GivenValues& values) { return isDecided(condition, values); });
    }

    /// Whether the expression is made only of numbers and known values.
    [[nodiscard]] bool isDecided(ExprId expr, const GivenValues& values) const {
        return std::ranges::all_of(code_.expressionsBelow(expr), [&](ExprId id) {
            const Expr& part = body_.expr(id);
            if (part.kind == ExprKind::Variable)
                return valueWith(code_, values, id).has_value();
            return part.kind == ExprKind::Integer || part.kind == ExprKind::Cast ||
                   part.kind == ExprKind::Binary || part.kind == ExprKind::Unary;
        });
    }

    [[nodiscard]] std::uint32_t loopAround(ExprId expr) const {
        const StmtId statement = code_.statement(expr);
        std::uint32_t innermost = noId;
        for (std::uint32_t i = 0; i < kernel_.loops.size(); ++i)
            if (statement != noId && code_.encloses(kernel_.loops[i].body, statement) &&
                (innermost == noId || kernel_.loops[i].depth > kernel_.loops[innermost].depth))
                innermost = i;
        return innermost;
    }

    [[nodiscard]] double roundsAroundExpression(ExprId expr) const {
        return roundsAround(loopAround(expr));
    }

    /// The product of the rounds of the loop with that index and of all loops around it.
    [[nodiscard]] double roundsAround(std::uint32_t loop) const {
        double product = 1;
        for (; loop != noId; loop = kernel_.loops[loop].parent) {
            const auto rounds = roundsWith(code_, given_, kernel_.loops[loop]);
            product *=
                rounds ? static_cast<double>(std::max<std::int64_t>(*rounds, 1)) : usualRounds;
        }
        return product;
    }

    /// The name of an array of the thread that the loop's index is a subscript of; may be empty.
    [[nodiscard]] std::string ownArrayIn(const Loop& loop) const {
        for (const ExprId use : code_.uses(loop.inductionVariable)) {
            if (!code_.holds(loop.body, use))
                continue;
            for (ExprId at = code_.parent(use); at != noId; at = code_.parent(at)) {
                const Expr& around = body_.expr(at);
                if (around.kind != ExprKind::Subscript)
                    continue;
                const VariableId array = rootOf(around.children[0]);
                if (array != noId && body_.variable(array).storage == Storage::Local &&
                    !body_.variable(array).type.arrayExtents.empty())
                    return body_.variable(array).name;
            }
        }
        return {};
    }

    [[nodiscard]] VariableId rootOf(ExprId expr) const {
        while (body_.expr(expr).kind == ExprKind::Subscript)
            expr = body_.expr(expr).children[0];
        return code_.namedVariable(expr);
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const GivenValues& given_;
    std::vector<ExprId> divisions_;
    std::vector<SpecialReason> reasons_;
};

} // namespace

std::vector<SpecialReason> specialReasons(const SkillContext& context, const GivenValues& given) {
    return ReasonFinder(context, given).find();
}

} // namespace kernelskill::skills
