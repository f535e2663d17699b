#include "analysis/raise/intervals.h"
#include "analysis/raise/rewrite.h"
#include "engine/graph/simplify/rules.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

namespace raise = analysis::raise;
using raise::Computation;
using raise::Function;
using raise::Interval;
using raise::Reducer;
using raise::Scalar;
using raise::ScalarNode;

struct ValueRule {
    std::string_view name;
    std::string_view what; ///< The rest of a sentence about the computation: "has ...".
    std::string_view condition;
    bool reordersSums = false;
    bool needsFiniteInputs = false;
};

constexpr ValueRule reductionsOfOne{"reductions-of-one", "reduces one element, which is the result",
                                    "all reduced axes have an extent of 1"};
constexpr ValueRule equalTerms{"equal-terms", "reduces the same element again and again",
                               "its terms do not depend on one of the reduced axes", true};
constexpr ValueRule redundantBounds{"redundant-bounds",
                                    "bounds what is within these bounds already",
                                    "the value is within the bounds whatever the inputs"};
constexpr ValueRule constantValues{"constant-values", "has a part that is always the same number",
                                   "the value is one number whatever the inputs", false, true};
constexpr ValueRule selfDifference{"self-difference",
                                   "subtracts a value from itself: the result is 0",
                                   "both sides are the same value", false, true};
constexpr ValueRule inverseFunctions{"inverse-functions",
                                     "undoes what it did: a logarithm of an exponential, or a sum "
                                     "behind a difference",
                                     "both are of the same value", true, true};

/// The nodes of the graph; what an output alone asks for has its name.
std::vector<std::string> nodesOf(const Computation& computation) {
    return computation.sources.empty() ? std::vector{computation.name} : computation.sources;
}

Simplification said(const ValueRule& rule, const Computation& computation) {
    return {std::string(rule.name),
            nodesOf(computation),
            fmt::format("{} {}", computation.name, rule.what),
            std::string(rule.condition),
            rule.reordersSums,
            rule.needsFiniteInputs};
}

/// Whether nothing but positions and numbers stand in the value: no input can change it.
bool isOfPositions(const Scalar& value) {
    bool is = true;
    raise::forEachNode(value, [&](const ScalarNode& node) {
        is =
            is && node.kind != ScalarNode::Kind::Load && node.kind != ScalarNode::Kind::Accumulated;
    });
    return is;
}

Scalar numberLike(const Scalar& value, double number) {
    return raise::isFloating(value->type)
               ? raise::number(value->type, number)
               : raise::integerNumber(value->type, static_cast<std::int64_t>(number));
}

/// Rewrites the values of one computation.
class Values {
public:
    Values(Computation& computation, const raise::Intervals& buffers, const IsUsed& isUsed)
        : computation_(computation), buffers_(buffers), isUsed_(isUsed) {}

    Done run() {
        interner_.intern(computation_);
        // Intervals are asked of the computation before the rules.
        const Computation before = computation_;
        raise::ScalarIntervals intervals(buffers_, before);
        intervals_ = &intervals;
        // An inverse is looked for before its arguments are rewritten.
        for (const bool undoes : {true, false}) {
            undoes_ = undoes;
            done_.clear();
            if (used_.empty())
                raise::rewriteRoots(computation_,
                                    [&](const Scalar& root) { return rewritten(root); });
        }
        Done done;
        for (const ValueRule* rule : used_)
            done.push_back(said(*rule, computation_));
        return done;
    }

private:
    Scalar rewritten(const Scalar& value) {
        if (const auto known = done_.find(value.get()); known != done_.end())
            return known->second;
        Scalar result = undoes_ ? nullptr : constant(value);
        if (result == nullptr) {
            raise::NodeReplacements arguments;
            for (const Scalar& argument : value->arguments)
                arguments.emplace(argument.get(), rewritten(argument));
            result = interner_(raise::withNodes(value, arguments));
            if (const Scalar other = simpler(value, result))
                result = other;
        }
        done_.emplace(value.get(), result);
        return result;
    }

    bool use(const ValueRule& rule) {
        if (!isUsed_(rule.name))
            return false;
        if (std::ranges::find(used_, &rule) == used_.end())
            used_.push_back(&rule);
        return true;
    }

    /// The number that a value always is.
    Scalar constant(const Scalar& value) {
        if (value->kind == ScalarNode::Kind::Number || value->kind == ScalarNode::Kind::Position)
            return nullptr;
        const Interval interval = intervals_->of(value);
        if (interval.low != interval.high || std::isinf(interval.low) || interval.dividesByZero)
            return nullptr;
        // A value that no input can change is arithmetic of indices: it is not reported.
        return isOfPositions(value) || use(constantValues) ? numberLike(value, interval.low)
                                                           : nullptr;
    }

    /// Another value for `now`, which `value` became; null if there is none.
    Scalar simpler(const Scalar& value, const Scalar& now) {
        if (now->kind != ScalarNode::Kind::Call || !raise::isFloating(now->type))
            return nullptr;
        if (undoes_)
            return undone(now);
        if (now->arguments.size() < 2)
            return nullptr;
        const Scalar& x = now->arguments[0];
        const Scalar& y = now->arguments[1];
        if (isCall(now, Function::Subtract) && (x == y || isGuarded(y, x)) && use(selfDifference))
            return raise::number(now->type, 0);
        if (isCall(now, Function::Add) && !used_.empty()) { // Else a zero could lose its sign.
            if (raise::numberOf(x) == 0)
                return y;
            return raise::numberOf(y) == 0 ? x : nullptr;
        }
        return bounded(value, now);
    }

    /// The value behind a function and its inverse.
    Scalar undone(const Scalar& now) {
        const Scalar& x = now->arguments[0];
        if (isCall(now, Function::Logarithm) && isCall(x, Function::Exponential) &&
            use(inverseFunctions))
            return x->arguments[0];
        if (!isCall(now, Function::Add))
            return nullptr;
        const Scalar& y = now->arguments[1];
        for (const auto& [one, other] : {std::pair(x, y), std::pair(y, x)})
            if (isCall(one, Function::Subtract) && one->arguments[1] == other &&
                use(inverseFunctions))
                return one->arguments[0];
        return nullptr;
    }

    /// Whether `value` is `of` where that is finite: select(abs(of) == inf, 0, of).
    static bool isGuarded(const Scalar& value, const Scalar& of) {
        if (value->kind != ScalarNode::Kind::Select || value->arguments[2] != of)
            return false;
        const Scalar& condition = value->arguments[0];
        return isCall(condition, Function::Equal) &&
               isCall(condition->arguments[0], Function::Absolute) &&
               condition->arguments[0]->arguments[0] == of &&
               raise::numberOf(condition->arguments[1]) == std::numeric_limits<double>::infinity();
    }

    /// A minimum or maximum without a bound that the value does not pass. NaN passes both.
    Scalar bounded(const Scalar& value, const Scalar& now) {
        const bool isMaximum = isCall(now, Function::Maximum);
        const bool isSame = value->kind == now->kind && value->function == now->function;
        if ((!isMaximum && !isCall(now, Function::Minimum)) || !isSame)
            return nullptr;
        for (const std::size_t inner : {0U, 1U}) {
            const std::size_t bound = 1 - inner;
            const Interval of = intervals_->of(value->arguments[inner]);
            const Interval by = intervals_->of(value->arguments[bound]);
            const bool lies = isMaximum ? of.low >= by.high : of.high <= by.low;
            if (lies && raise::numberOf(now->arguments[bound]) && use(redundantBounds))
                return now->arguments[inner];
        }
        return nullptr;
    }

    Computation& computation_;
    raise::ScalarIntervals* intervals_ = nullptr; ///< Set while the rules run.
    bool undoes_ = false;                         ///< Inverse functions alone.
    const raise::Intervals& buffers_;
    const IsUsed& isUsed_;
    raise::Interner interner_;
    std::unordered_map<const ScalarNode*, Scalar> done_;
    std::vector<const ValueRule*> used_;
};

/// A reduction of one element is that element.
void makeMap(Computation& computation) {
    for (raise::Store& store : computation.stores)
        store.value = raise::replaced(store.value, [&](const ScalarNode& node) -> Scalar {
            if (node.kind != ScalarNode::Kind::Accumulated)
                return nullptr;
            const raise::Reduction& reduction = computation.reductions.at(node.reduction);
            return raise::findsPlace(reduction.reducer)
                       ? raise::integerNumber(node.type, 0)
                       : raise::converted(reduction.element, node.type);
        });
    computation.reductions.clear();
    computation.reduced.clear();
}

/// Leaves out reduced axes that no term depends on.
std::optional<Simplification> dropAxes(Computation& computation, const IsUsed& isUsed) {
    if (computation.reduced.empty())
        return std::nullopt;
    double times = 1;
    std::vector<raise::Axis> left;
    for (const raise::Axis& axis : computation.reduced) {
        const auto extent = axis.extent->constant();
        const bool isRead =
            std::ranges::any_of(computation.reductions, [&](const raise::Reduction& reduction) {
                return raise::mentions(reduction.element, axis.id);
            });
        if (isRead || !extent || *extent < 1)
            left.push_back(axis);
        else
            times *= static_cast<double>(*extent);
    }
    const bool isSimple =
        std::ranges::all_of(computation.reductions, [](const raise::Reduction& reduction) {
            return !raise::findsPlace(reduction.reducer) && reduction.reducer != Reducer::Product;
        });
    const ValueRule& rule = times == 1 ? reductionsOfOne : equalTerms;
    if ((times == 1 && !left.empty()) || (times != 1 && !isSimple) || !isUsed(rule.name))
        return std::nullopt;
    const std::vector<raise::Reduction> reductions = computation.reductions;
    for (raise::Store& store : computation.stores)
        store.value = raise::replaced(store.value, [&](const ScalarNode& node) -> Scalar {
            const bool isSum = node.kind == ScalarNode::Kind::Accumulated &&
                               reductions.at(node.reduction).reducer == Reducer::Sum;
            return !isSum || times == 1
                       ? nullptr
                       : raise::call(node.type, Function::Multiply,
                                     {raise::accumulated(node.type, node.reduction),
                                      numberLike(raise::accumulated(node.type, 0), times)});
        });
    computation.reduced = left;
    if (left.empty())
        makeMap(computation);
    return said(rule, computation);
}

} // namespace

Done useConstants(raise::Program& program, const std::map<std::string, double>& constants) {
    std::map<raise::BufferId, double> values;
    for (raise::BufferId i = 0; i < program.buffers.size(); ++i) {
        const raise::Buffer& buffer = program.buffers[i];
        const auto known = constants.find(buffer.source);
        if (buffer.role == raise::Buffer::Role::Weight && known != constants.end())
            values.emplace(i, known->second);
    }
    Done done;
    for (raise::Step& step : program.steps) {
        auto* computation = std::get_if<Computation>(&step);
        if (computation == nullptr)
            continue;
        std::set<raise::BufferId> used;
        raise::rewriteRoots(*computation, [&](const Scalar& root) {
            raise::NodeReplacements replacements;
            for (const Scalar& node : raise::nodesOf({root})) {
                const auto known = values.find(node->buffer);
                if (node->kind != ScalarNode::Kind::Load || known == values.end())
                    continue;
                used.insert(node->buffer);
                replacements.emplace(node.get(), numberLike(node, known->second));
            }
            return raise::withNodes(root, replacements);
        });
        for (const raise::BufferId buffer : used)
            done.push_back({"known-constants", nodesOf(*computation),
                            fmt::format("{} reads {}, which is {}", computation->name,
                                        program.buffers[buffer].name, values.at(buffer)),
                            "the archive holds the constant", false, false});
    }
    return done;
}

Done simplifyValues(raise::Program& program, const IsUsed& isUsed) {
    Done done;
    const raise::Intervals intervals(program);
    for (raise::Step& step : program.steps) {
        auto* computation = std::get_if<Computation>(&step);
        if (computation == nullptr)
            continue;
        for (Simplification& one : Values(*computation, intervals, isUsed).run())
            done.push_back(std::move(one));
        if (auto dropped = dropAxes(*computation, isUsed))
            done.push_back(*std::move(dropped));
    }
    return done;
}

} // namespace kernelskill::engine::graph
