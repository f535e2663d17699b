#include "skills/thread-coarsening/shared_loads.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/source_words.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/aliasing.h"
#include "skills/schedule/load_text.h"
#include "skills/thread-coarsening/initial_values.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr double roundsOfALoop = 16;

/// The way an address that rows share is loaded once.
enum class Sharing : std::uint8_t {
    None,
    Compiler, ///< No store stands between the loads, as the compiler sees it.
    Named,    ///< A local ahead of the stores.
};

/// A statement that is copied as a whole.
struct Unit {
    StmtId statement = noId;
    std::size_t block = 0; ///< Units of one block have no loop head between their copies.
};

struct Load {
    const MemoryAccess* access = nullptr;
    std::size_t unit = 0;      ///< units_.size(): of none, e.g. of a loop's head.
    StmtId statement = noId;   ///< The unit's.
    std::optional<Span> place; ///< The text that is the load and nothing else.
    IndexExpression index;
    IndexExpression step; ///< From a row to the next.
    bool isKnown = false; ///< Index and step are.
    Sharing sharing = Sharing::None;
};

class LoadSharer {
public:
    LoadSharer(const SkillContext& context, const CopiedWork& work, int rows)
        : context_(context), kernel_(context.kernel), work_(work),
          body_(withInitialValues(work.code)), code_(body_), rows_(rows) {}

    Gated<SharedLoads> share() {
        addUnits(work_.statements);
        for (const MemoryAccess& access : kernel_.accesses)
            if (access.kind == AccessKind::Read &&
                (access.space == MemorySpace::Global || access.space == MemorySpace::Generic) &&
                code_.statement(access.expression) != noId)
                loads_.push_back(loadOf(access));
        KERNELSKILL_CHECK(requireNoRowReadsAnother());
        for (Load& load : loads_)
            load.sharing = sharingOf(load);
        nameValues();
        count();
        countUpdates();
        return std::move(shared_);
    }

private:
    void addUnits(const std::vector<StmtId>& statements) {
        const std::size_t block = blocks_++;
        for (const StmtId id : statements) {
            if (work_.commonLoops.contains(id))
                addUnits(code_.statementsOf(body_.stmt(id).children[0]));
            else
                units_.push_back({id, block});
        }
    }

    [[nodiscard]] Load loadOf(const MemoryAccess& access) const {
        Load load;
        load.access = &access;
        load.unit = static_cast<std::size_t>(
            std::ranges::find_if(
                units_,
                [&](const Unit& unit) { return code_.holds(unit.statement, access.expression); }) -
            units_.begin());
        if (load.unit < units_.size())
            load.statement = units_[load.unit].statement;
        load.place = textOfLoad(*context_.file.source, code_, access.expression);
        if (const auto index = indexOf(access)) {
            const auto step = index->coefficientOf(work_.step);
            load.isKnown = step && !isUnknown(*index);
            if (load.isKnown) {
                load.index = *index;
                load.step = *step;
            }
        }
        return load;
    }

    /// The index in the work away from the edges; nullopt if it is no polynomial.
    [[nodiscard]] std::optional<IndexExpression> indexOf(const MemoryAccess& access) const {
        const Expr& expr = body_.expr(access.expression);
        const bool isPlain = expr.kind == ExprKind::Subscript && access.base != noId &&
                             code_.namedVariable(expr.children[0]) == access.base &&
                             body_.variable(access.base).type.pointerDepth == 1 &&
                             body_.variable(access.base).type.arrayExtents.empty();
        return isPlain ? polynomialOf(code_, expr.children[1]) : access.index;
    }

    /// Whether the index holds a variable that changes from row to row in an unknown way.
    [[nodiscard]] bool isUnknown(const IndexExpression& index) const {
        return std::ranges::any_of(index.terms(), [&](const auto& term) {
            return std::ranges::any_of(term.first, [&](Symbol symbol) {
                return symbol.kind == SymbolKind::Named ||
                       (symbol.kind == SymbolKind::Opaque && !isLoopVariable(symbol.id) &&
                        (work_.varying.contains(symbol.id) || code_.isEverWritten(symbol.id)));
            });
        });
    }

    [[nodiscard]] bool isLoopVariable(VariableId variable) const {
        return std::ranges::any_of(kernel_.loops, [&](const Loop& loop) {
            return loop.inductionVariable == variable && work_.commonLoops.contains(loop.statement);
        });
    }

    [[nodiscard]] bool stores(const MemoryAccess& access) const {
        return access.kind != AccessKind::Read && access.space != MemorySpace::Local &&
               code_.statement(access.expression) != noId;
    }

    /// Refuses if a row loads what another one stores: several rows a thread would change their
    /// order.
    [[nodiscard]] Gated<void> requireNoRowReadsAnother() const {
        constexpr int maxDistance = 8; // rows
        for (const MemoryAccess& store : kernel_.accesses) {
            if (!stores(store) || store.base == noId)
                continue;
            const auto stored = indexOf(store);
            for (const Load& load : loads_) {
                if (!stored || load.access->base != store.base || !load.isKnown)
                    continue;
                for (int rows = 1; rows <= maxDistance; ++rows) {
                    const IndexExpression distance = load.step * IndexExpression::constant(rows);
                    if (load.index - *stored == distance || *stored - load.index == distance)
                        return refuse("rows-depend",
                                      fmt::format("line {} loads of {} what another row stores",
                                                  lineOf(load.access->expression),
                                                  body_.variable(store.base).name));
                }
            }
        }
        return {};
    }

    [[nodiscard]] std::uint32_t lineOf(ExprId expr) const {
        return lineNumber(context_, body_.expr(expr).span.begin);
    }

    [[nodiscard]] bool isRestrict(VariableId base) const {
        return base != noId && body_.variable(base).type.isRestrict;
    }

    [[nodiscard]] Sharing sharingOf(const Load& load) {
        const bool isJammed = std::ranges::all_of(load.access->loops, [&](std::uint32_t loop) {
            return work_.commonLoops.contains(kernel_.loops[loop].statement);
        });
        if (!load.isKnown || !isJammed || load.statement == noId ||
            isConditional(load.access->expression, load.statement))
            return Sharing::None;
        // The compiler may not see that two addresses are equal if indices differ between rows.
        const bool isOneAddress = load.step.asConstant() == 0;
        const bool isLeftAlone = !hasStoreBetween(load);
        if (isOneAddress && isLeftAlone)
            return Sharing::Compiler;
        if (canBeNamed(load))
            return Sharing::Named;
        if (isLeftAlone)
            return Sharing::Compiler;
        shared_.wasCutOff = true;
        return Sharing::None;
    }

    /// Whether the statement may run without evaluating the expression.
    [[nodiscard]] bool isConditional(ExprId expr, StmtId statement) const {
        for (ExprId at = expr; code_.parent(at) != noId; at = code_.parent(at)) {
            const Expr& above = body_.expr(code_.parent(at));
            const bool isChoice =
                above.kind == ExprKind::Conditional ||
                (above.kind == ExprKind::Binary && (above.op == "&&" || above.op == "||"));
            if (isChoice && above.children[0] != at)
                return true;
        }
        for (StmtId at = code_.statement(expr); at != statement; at = body_.stmt(at).parent) {
            const StmtId parent = body_.stmt(at).parent;
            const StmtKind kind = body_.stmt(parent).kind;
            if (kind == StmtKind::If || kind == StmtKind::Switch)
                return true;
        }
        const StmtKind own = body_.stmt(statement).kind;
        return own == StmtKind::If || own == StmtKind::Switch;
    }

    /// A store, as the compiler sees it, between the loads of two rows.
    [[nodiscard]] bool hasStoreBetween(const Load& load) const {
        const Expr* parent = code_.parent(load.access->expression) == noId
                                 ? nullptr
                                 : &body_.expr(code_.parent(load.access->expression));
        const VariableId base = load.access->base;
        const bool isReadOnly = parent != nullptr && parent->kind == ExprKind::Call &&
                                parent->name.starts_with("__ldg");
        return !isReadOnly && std::ranges::any_of(kernel_.accesses, [&](const MemoryAccess& store) {
            return stores(store) && store.loops == load.access->loops &&
                   (store.base == base || !isRestrict(store.base) || !isRestrict(base));
        });
    }

    /// Whether the load can move ahead of its statement. Stores of other rows do not forbid it:
    /// threads of different rows never waited for each other.
    [[nodiscard]] bool canBeNamed(const Load& load) const {
        const Stmt& stmt = body_.stmt(load.statement);
        const Expr& expr = body_.expr(load.access->expression);
        return (stmt.kind == StmtKind::Expression || stmt.kind == StmtKind::Declaration) &&
               load.place && expr.kind == ExprKind::Subscript && !expr.type.isVolatile &&
               !isAddressTaken(load.access->expression) && load.access->base != noId &&
               !body_.variable(load.access->base).type.isVolatile && !namesLocalOf(load) &&
               !storesIn(load.statement) && !isOnce(load.statement);
    }

    /// Whether the own row's stores from a unit up to another one leave the array as it is.
    [[nodiscard]] bool isKept(std::size_t from, std::size_t to, VariableId base) const {
        return std::none_of(units_.begin() + static_cast<std::ptrdiff_t>(from),
                            units_.begin() + static_cast<std::ptrdiff_t>(to),
                            [&](const Unit& unit) { return mayStoreTo(unit.statement, base); });
    }

    [[nodiscard]] bool isAddressTaken(ExprId expr) const {
        const ExprId parent = code_.parent(expr);
        if (parent == noId)
            return false;
        const Expr& above = body_.expr(parent);
        return (above.kind == ExprKind::Unary && above.op == "&") ||
               above.kind == ExprKind::Member || above.kind == ExprKind::Other ||
               above.kind == ExprKind::InitList;
    }

    /// Whether the load uses a local that its own statement declares.
    [[nodiscard]] bool namesLocalOf(const Load& load) const {
        return std::ranges::any_of(code_.expressionsBelow(load.access->expression), [&](ExprId id) {
            const Expr& expr = body_.expr(id);
            return (expr.kind == ExprKind::Variable && expr.variable != noId &&
                    (code_.declarationOf(expr.variable) == load.statement ||
                     (work_.varying.contains(expr.variable) &&
                      changesIn(expr.variable, load.statement)))) ||
                   expr.kind == ExprKind::Call ||
                   (expr.kind == ExprKind::Binary && isAssignment(expr.op)) ||
                   (expr.kind == ExprKind::Unary &&
                    (expr.op.contains("++") || expr.op.contains("--")));
        });
    }

    [[nodiscard]] bool changesIn(VariableId variable, StmtId stmt) const {
        return std::ranges::any_of(code_.uses(variable), [&](ExprId use) {
            return code_.isWrite(use) && code_.holds(stmt, use);
        });
    }

    /// Whether the statement stores other than by the assignment that it is.
    [[nodiscard]] bool storesIn(StmtId id) const {
        const Stmt& stmt = body_.stmt(id);
        const ExprId target = stmt.kind == StmtKind::Expression &&
                                      body_.expr(stmt.expr).kind == ExprKind::Binary &&
                                      isAssignment(body_.expr(stmt.expr).op)
                                  ? code_.withoutCasts(body_.expr(stmt.expr).children[0])
                                  : noId;
        return callsUnknown(id) ||
               std::ranges::any_of(kernel_.accesses, [&](const MemoryAccess& access) {
                   return stores(access) && code_.holds(id, access.expression) &&
                          code_.withoutCasts(access.expression) != target;
               });
    }

    [[nodiscard]] bool mayStoreTo(StmtId stmt, VariableId base) const {
        return callsUnknown(stmt) ||
               std::ranges::any_of(kernel_.accesses, [&](const MemoryAccess& store) {
                   return stores(store) && code_.holds(stmt, store.expression) &&
                          (store.base == base ||
                           !requireDistinctMemory(context_, store.base, base));
               });
    }

    /// A call that is handed a pointer, or an object that may hold one, may store.
    [[nodiscard]] bool callsUnknown(StmtId stmt) const {
        const auto mayPoint = [&](ExprId argument) {
            const Type& type = body_.expr(argument).type;
            return type.pointerDepth > 0 ||
                   (type.scalar == ScalarKind::Unknown && !type.isPlainClass);
        };
        return std::ranges::any_of(code_.expressionsIn(stmt), [&](ExprId id) {
            const Expr& expr = body_.expr(id);
            return expr.kind == ExprKind::Call && !expr.name.starts_with("__ldg") &&
                   (expr.isMethod || std::ranges::any_of(expr.children, mayPoint));
        });
    }

    /// Whether the statement declares locals that all rows share.
    [[nodiscard]] bool isOnce(StmtId stmt) const {
        return body_.stmt(stmt).kind == StmtKind::Declaration &&
               std::ranges::none_of(body_.stmt(stmt).declared, [&](VariableId local) {
                   return work_.varying.contains(local);
               });
    }

    [[nodiscard]] IndexExpression indexIn(const Load& load, int row) const {
        return load.index + load.step * IndexExpression::constant(row);
    }

    /// Locals for the named loads of statements whose rows have some of them in common.
    void nameValues() {
        struct Known {
            VariableId base = noId;
            IndexExpression index;
            std::size_t unit = 0;
            std::vector<std::pair<const Load*, int>> uses;
        };
        std::vector<Known> known;
        for (std::size_t unit = 0; unit < units_.size(); ++unit)
            for (int row = 0; row < rows_; ++row)
                for (const Load& load : loads_) {
                    if (load.unit != unit || load.sharing != Sharing::Named)
                        continue;
                    const IndexExpression index = indexIn(load, row);
                    const auto same = std::ranges::find_if(known, [&](const Known& other) {
                        return other.base == load.access->base && other.index == index &&
                               units_[other.unit].block == units_[unit].block &&
                               isKept(other.unit, unit, load.access->base);
                    });
                    Known& value = same != known.end()
                                       ? *same
                                       : known.emplace_back(load.access->base, index, unit);
                    value.uses.emplace_back(&load, row);
                }
        std::set<std::size_t> sharing;
        for (const Known& value : known)
            if (std::ranges::any_of(value.uses, [&](const auto& use) {
                    return use.second != value.uses.front().second;
                }))
                for (const auto& use : value.uses)
                    sharing.insert(use.first->unit);
        for (const Known& value : known) {
            if (!sharing.contains(value.unit))
                continue;
            const Load& load = *value.uses.front().first;
            for (const auto& [use, row] : value.uses) {
                shared_.valueOf[{use->access->expression, row}] = shared_.values.size();
                shared_.places[use->access->expression] = *use->place;
            }
            shared_.loadedAt[load.statement].push_back(shared_.values.size());
            shared_.values.push_back({{load.access->expression, value.uses.front().second},
                                      body_.variable(value.base).name,
                                      typeOf(load.access->expression, value.base)});
        }
    }

    [[nodiscard]] std::string typeOf(ExprId expr, VariableId base) const {
        std::string type = body_.expr(expr).type.spelling;
        if (type.starts_with("const "))
            type.erase(0, 6);
        // The parameter's words: its type may be a macro, which is another one elsewhere.
        const auto declared = std::ranges::find(kernel_.parameters, base, &Parameter::variable);
        const std::string_view words = declared == kernel_.parameters.end()
                                           ? std::string_view{}
                                           : context_.file.source->slice(declared->span);
        return !type.empty() && !occurrences(words, type).empty() ? type : "auto";
    }

    /// The loads of `x += y`, which rows never share. The second one of a row is none before: the
    /// value is still in a register. Between the stores of several rows it is made again.
    void countUpdates() {
        for (const MemoryAccess& access : kernel_.accesses) {
            if (access.kind != AccessKind::ReadWrite || access.space == MemorySpace::Local ||
                code_.statement(access.expression) == noId)
                continue;
            const double weight =
                rows_ * std::pow(roundsOfALoop, static_cast<double>(access.loops.size()));
            const auto unit = std::ranges::find_if(units_, [&](const Unit& each) {
                return code_.holds(each.statement, access.expression);
            });
            const bool isAgain = std::any_of(units_.begin(), unit, [&](const Unit& earlier) {
                return unit != units_.end() && earlier.block == unit->block &&
                       std::ranges::any_of(kernel_.accesses, [&](const MemoryAccess& store) {
                           return stores(store) && store.base == access.base &&
                                  code_.holds(earlier.statement, store.expression);
                       });
            });
            shared_.before += isAgain ? 0 : weight;
            shared_.after += weight;
        }
    }

    /// Counts the loads before and after. Equal addresses of one row count once.
    void count() {
        using Group = std::pair<VariableId, std::vector<std::uint32_t>>;
        std::map<Group, std::vector<IndexExpression>> ofAll;
        std::map<Group, std::vector<IndexExpression>> ofOne;
        std::set<std::size_t> valuesOfAll;
        std::set<std::size_t> valuesOfOne;
        for (const Load& load : loads_) {
            const double weight =
                std::pow(roundsOfALoop, static_cast<double>(load.access->loops.size()));
            const Group group{load.access->base, load.access->loops};
            const auto isNew = [&](auto& seen, int row) {
                std::vector<IndexExpression>& known = seen[group];
                const IndexExpression index = indexIn(load, row);
                if (std::ranges::find(known, index) != known.end())
                    return false;
                known.push_back(index);
                return true;
            };
            const auto isFirst = [&](std::set<std::size_t>& seen, int row) {
                const auto value = shared_.valueOf.find({load.access->expression, row});
                return value == shared_.valueOf.end() || seen.insert(value->second).second;
            };
            const auto counts = [&](auto& seen, auto& values, int row) {
                return load.sharing == Sharing::Compiler ? isNew(seen, row) : isFirst(values, row);
            };
            if (counts(ofOne, valuesOfOne, 0))
                shared_.before += weight * rows_;
            if (load.statement != noId && isOnce(load.statement)) {
                shared_.after += weight;
                continue;
            }
            for (int row = 0; row < rows_; ++row)
                if (counts(ofAll, valuesOfAll, row))
                    shared_.after += weight;
        }
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CopiedWork& work_;
    FunctionBody body_;
    CodeMap code_;
    int rows_;
    std::vector<Unit> units_;
    std::size_t blocks_ = 0;
    std::vector<Load> loads_;
    SharedLoads shared_;
};

} // namespace

Gated<SharedLoads> sharedLoads(const SkillContext& context, const CopiedWork& work, int rows) {
    return LoadSharer(context, work, rows).share();
}

} // namespace kernelskill::skills
