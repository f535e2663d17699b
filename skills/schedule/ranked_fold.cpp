#include "skills/schedule/ranked_fold.h"

#include "skills/schedule/best_comparison.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::size_t fewestRanks = 2;
constexpr std::size_t mostRanks = 4;

/// Says what a branch leaves in a variable: the round's value, the round's place, or what another
/// variable held before the branch.
struct Held {
    enum class Kind : std::uint8_t { Value, Place, Before };
    Kind kind = Kind::Before;
    VariableId variable = noId; ///< Set for Before.
    bool operator==(const Held&) const = default;
};

Held before(VariableId variable) {
    return {Held::Kind::Before, variable};
}

/// A comparison, and what follows if it holds.
struct Branch {
    BestComparison compared;
    StmtId body = noId;
};

class RankReader {
public:
    RankReader(const CodeMap& code, StmtId loop, VariableId iterator)
        : code_(code), body_(code.body()), loop_(loop), iterator_(iterator) {}

    [[nodiscard]] std::optional<RankedFold> read(StmtId id) const {
        const std::vector<Branch> branches = branchesOf(id);
        if (branches.size() < fewestRanks || branches.size() > mostRanks)
            return std::nullopt;
        RankedFold fold;
        fold.statement = id;
        for (const Branch& branch : branches)
            fold.best.push_back(branch.compared.best);
        const std::string& comparison = branches.front().compared.comparison;
        fold.isLargest = comparison.front() == '>';
        if (!areAlike(branches) || !readBodies(branches, fold) ||
            (!fold.places.empty() && comparison.size() > 1) || !isAlone(fold) ||
            !startAlike(fold.best) || !startAlike(fold.places))
            return std::nullopt;
        return fold;
    }

private:
    /// Reads an if and what its elses go on with; empty if one of them asks for anything else.
    [[nodiscard]] std::vector<Branch> branchesOf(StmtId id) const {
        std::vector<Branch> branches;
        for (StmtId at = id; at != noId;) {
            const Stmt& stmt = body_.stmt(at);
            if (stmt.kind != StmtKind::If || stmt.condition == noId || stmt.children.empty())
                return {};
            auto compared = bestComparison(code_, stmt.condition, id);
            if (!compared)
                return {};
            branches.push_back({*std::move(compared), stmt.children.front()});
            if (stmt.children.size() == 1)
                return branches;
            const std::vector<StmtId> otherwise = code_.statementsOf(stmt.children[1]);
            at = otherwise.size() == 1 ? otherwise.front() : noId;
        }
        return {};
    }

    /// Whether all branches compare the same value in the same way with variables of their own.
    [[nodiscard]] bool areAlike(const std::vector<Branch>& branches) const {
        const BestComparison& first = branches.front().compared;
        std::set<VariableId> best;
        for (const Branch& branch : branches)
            if (branch.compared.comparison != first.comparison ||
                !code_.sameExpression(branch.compared.value, first.value) ||
                !best.insert(branch.compared.best).second)
                return false;
        return std::ranges::none_of(code_.expressionsBelow(first.value), [&](ExprId part) {
            return best.contains(code_.namedVariable(part));
        });
    }

    /// Requires that each branch puts the value, and perhaps its place, at its rank, and moves the
    /// later ranks on.
    [[nodiscard]] bool readBodies(const std::vector<Branch>& branches, RankedFold& fold) const {
        std::vector<std::map<VariableId, Held>> held;
        for (const Branch& branch : branches) {
            auto after = heldBehind(branch);
            if (!after)
                return false;
            const auto place = std::ranges::find_if(
                *after, [](const auto& each) { return each.second.kind == Held::Kind::Place; });
            if (place != after->end())
                fold.places.push_back(place->first);
            held.push_back(*std::move(after));
        }
        if (!fold.places.empty() && fold.places.size() != branches.size())
            return false;
        for (std::size_t rank = 0; rank < branches.size(); ++rank) {
            std::map<VariableId, Held> expected;
            for (const auto* list : {&fold.best, &fold.places}) {
                if (list->empty())
                    continue;
                expected[(*list)[rank]] = {
                    list == &fold.best ? Held::Kind::Value : Held::Kind::Place, noId};
                for (std::size_t later = rank + 1; later < list->size(); ++later)
                    expected[(*list)[later]] = before((*list)[later - 1]);
            }
            if (held[rank] != expected)
                return false;
        }
        return true;
    }

    /// Follows the assignments of a branch; nullopt if there is another statement.
    [[nodiscard]] std::optional<std::map<VariableId, Held>> heldBehind(const Branch& branch) const {
        std::map<VariableId, Held> held;
        for (const StmtId id : code_.statementsOf(branch.body)) {
            const Stmt& stmt = body_.stmt(id);
            if (stmt.kind != StmtKind::Expression)
                return std::nullopt;
            const Expr& expr = body_.expr(stmt.expr);
            if (expr.kind != ExprKind::Binary || expr.op != "=")
                return std::nullopt;
            const VariableId target = code_.namedVariable(expr.children[0]);
            const VariableId from = code_.namedVariable(expr.children[1]);
            if (target == noId)
                return std::nullopt;
            if (code_.sameExpression(expr.children[1], branch.compared.value))
                held[target] = {Held::Kind::Value, noId};
            else if (from != noId && from == iterator_)
                held[target] = {Held::Kind::Place, noId};
            else if (const auto moved = held.find(from); moved != held.end())
                held[target] = Held(moved->second);
            else if (from != noId)
                held[target] = before(from);
            else
                return std::nullopt;
        }
        return held;
    }

    /// Whether the loop uses the variables, which are declared around it, in the statement alone.
    [[nodiscard]] bool isAlone(const RankedFold& fold) const {
        for (const auto* list : {&fold.best, &fold.places})
            for (const VariableId variable : *list)
                if (!isUsedInAlone(code_, loop_, {fold.statement}, variable))
                    return false;
        return true;
    }

    /// Whether the variables have the same value when the loop begins. Each thread that shares the
    /// loop begins with it, too, which changes nothing: it fills all ranks from the beginning.
    [[nodiscard]] bool startAlike(const std::vector<VariableId>& variables) const {
        for (const VariableId variable : variables) {
            const ExprId value = body_.variable(variable).init;
            const auto& uses = code_.uses(variable);
            // A loop around would come back with another value.
            if (value == noId || uses.empty() || !code_.holds(loop_, uses.front()) ||
                body_.stmt(loop_).parent != body_.stmt(code_.statement(value)).parent ||
                !code_.sameExpression(value, body_.variable(variables.front()).init))
                return false;
        }
        return true;
    }

    const CodeMap& code_;
    const FunctionBody& body_;
    StmtId loop_;
    VariableId iterator_;
};

} // namespace

bool isPartOf(const RankedFold& fold, VariableId variable) {
    return std::ranges::find(fold.best, variable) != fold.best.end() ||
           std::ranges::find(fold.places, variable) != fold.places.end();
}

std::vector<RankedFold> rankedFolds(const CodeMap& code, StmtId loop, VariableId iterator) {
    const RankReader reader(code, loop, iterator);
    std::vector<RankedFold> found;
    for (const StmtId id : code.statementsIn(loop))
        if (auto fold = reader.read(id))
            found.push_back(*std::move(fold));
    return found;
}

} // namespace kernelskill::skills
