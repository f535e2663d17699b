#include "tests/nest/nest_run.h"

#include "analysis/model/integer_arithmetic.h"
#include "analysis/nest/nest_text.h"

#include <algorithm>
#include <set>

namespace kernelskill::testing {

namespace {

using namespace analysis;

using Number = std::optional<std::int64_t>;
using Truth = std::optional<bool>;

class Runner {
public:
    Runner(const Nest& nest, const NestSizes& sizes) : nest_(nest), sizes_(sizes) {}

    NestRun run(const std::vector<Index3>& blocks) {
        for (const Index3& block : blocks) {
            block_ = block;
            for (thread_[2] = 0; thread_[2] < sizes_.block[2]; ++thread_[2])
                for (thread_[1] = 0; thread_[1] < sizes_.block[1]; ++thread_[1])
                    for (thread_[0] = 0; thread_[0] < sizes_.block[0]; ++thread_[0])
                        runThread();
        }
        return std::move(run_);
    }

private:
    void runThread() {
        phase_ = 0;
        for (const NestNodeId root : nest_.roots)
            runNode(root, Certainty::Once);
    }

    void runNode(NestNodeId id, Certainty certainty) {
        if (run_.isCutOff)
            return;
        const NestNode& node = nest_.node(id);
        if (node.barrier() != nullptr) {
            phase_ += node.barrier()->kind == BarrierKind::SyncThreads ? 1 : 0;
        } else if (const NestGuard* guard = node.guard()) {
            const Truth holds = truth(guard->condition);
            if (holds == false)
                return;
            runAll(node.children, holds ? certainty : std::max(certainty, Certainty::AtMostOnce));
        } else if (const NestLoop* loop = node.loop()) {
            runLoop(id, *loop, certainty);
        } else {
            runStatement(id, *node.computation(), certainty);
        }
    }

    void runAll(const std::vector<NestNodeId>& nodes, Certainty certainty) {
        for (const NestNodeId child : nodes)
            runNode(child, certainty);
    }

    void runLoop(NestNodeId id, const NestLoop& loop, Certainty certainty) {
        const auto& children = nest_.node(id).children;
        const Number first = loop.first ? number(*loop.first) : std::nullopt;
        const Number end = loop.end ? number(*loop.end) : std::nullopt;
        const Number step = loop.step ? number(*loop.step) : std::nullopt;
        if (!loop.unknown.empty() || !first || !end || !step || *step == 0) {
            iterators_.erase(loop.iterator);
            runAll(children, Certainty::AnyTimes);
            return;
        }
        if (loop.mayStop)
            certainty = std::max(certainty, Certainty::AtMostOnce);
        for (std::int64_t i = *first; loop.isDownward ? i > *end : i < *end; i += *step) {
            iterators_[loop.iterator] = i;
            rounds_.emplace_back(id, i);
            runAll(children, certainty);
            rounds_.pop_back();
            if (run_.isCutOff)
                break;
        }
        iterators_.erase(loop.iterator);
    }

    void runStatement(NestNodeId id, const NestStatement& statement, Certainty certainty) {
        if (!statement.opaque.empty())
            certainty = std::max(certainty, Certainty::AtMostOnce);
        if (certainty != Certainty::Once)
            run_.isExact = false;
        ++run_.runs[id];
        for (const NestAccessId access : statement.accesses)
            runAccess(access, certainty);
    }

    void runAccess(NestAccessId id, Certainty certainty) {
        const NestAccess& access = nest_.accesses[id];
        if (access.array != noId && (nest_.arrays[access.array].isVariable ||
                                     nest_.arrays[access.array].space == MemorySpace::Local))
            return; // Not recorded.
        const Truth holds = truth(access.condition);
        if (holds == false)
            return;
        if (!holds)
            certainty = std::max(certainty, Certainty::AtMostOnce);
        NestEvent event{id, block_, thread_, {}, certainty, rounds_, phase_};
        if (access.array != noId && access.index && access.form != NestAccessForm::Opaque)
            event.element = number(*access.index);
        if (!event.element || certainty != Certainty::Once)
            run_.isExact = false;
        if (certainty == Certainty::Once)
            checkSubscripts(access, event.element);
        run_.events.push_back(std::move(event));
        run_.isCutOff = run_.events.size() >= maxEvents;
    }

    void checkSubscripts(const NestAccess& access, Number element) {
        if (!element || !access.field.empty() || access.subscripts.empty())
            return;
        const bool holds = std::ranges::all_of(
            access.assumptions, [&](const auto& assumption) { return truth(assumption) == true; });
        std::int64_t flat = 0;
        bool isInside = true;
        for (std::size_t i = 0; i < access.subscripts.size(); ++i) {
            const NestSubscript& subscript = access.subscripts[i];
            const Number index = number(subscript.index);
            const Number extent = subscript.extent ? number(*subscript.extent) : Number(1);
            if (!index || !extent || (i > 0 && !subscript.extent))
                return;
            flat = flat * (i == 0 ? 1 : *extent) + *index;
            isInside = isInside && (i == 0 || (*index >= 0 && *index < *extent));
        }
        if (flat != *element || (holds && !isInside))
            if (const std::string text = accessText(nest_, access); told_.insert(text).second)
                run_.wrongSubscripts.push_back(text + " at element " + std::to_string(*element) +
                                               ", by subscripts " + std::to_string(flat));
    }

    Number number(const IndexExpression& expression) {
        std::int64_t sum = 0;
        for (const auto& [monomial, coefficient] : expression.terms()) {
            std::int64_t term = coefficient;
            for (const Symbol symbol : monomial) {
                const Number value = number(symbol);
                if (!value || __builtin_mul_overflow(term, *value, &term))
                    return std::nullopt;
            }
            if (__builtin_add_overflow(sum, term, &sum))
                return std::nullopt;
        }
        return sum;
    }

    Number number(Symbol symbol) {
        switch (symbol.kind) {
        case SymbolKind::ThreadIdx:
            return thread_.at(symbol.id);
        case SymbolKind::BlockIdx:
            return block_.at(symbol.id);
        case SymbolKind::BlockDim:
            return sizes_.block.at(symbol.id);
        case SymbolKind::GridDim:
            return sizes_.grid.at(symbol.id);
        default:
            break;
        }
        const NestSymbol* named = nest_.symbols.find(symbol);
        if (named == nullptr)
            return std::nullopt;
        switch (named->kind) {
        case NestSymbolKind::Parameter:
            if (const auto known = sizes_.parameters.find(named->name);
                known != sizes_.parameters.end())
                return known->second;
            return std::nullopt;
        case NestSymbolKind::Position:
            return block_.at(named->axis) * sizes_.block.at(named->axis) + thread_.at(named->axis);
        case NestSymbolKind::Iterator:
            if (const auto known = iterators_.find(symbol); known != iterators_.end())
                return known->second;
            return std::nullopt;
        case NestSymbolKind::Derived:
            return derived(*named);
        case NestSymbolKind::Value:
            break;
        }
        return std::nullopt;
    }

    Number derived(const NestSymbol& symbol) {
        if (symbol.op == "select") {
            const Truth choice = truth(symbol.choice.front());
            return choice ? number(symbol.operands[*choice ? 0 : 1]) : std::nullopt;
        }
        const Number a = number(symbol.operands.front());
        if (!a)
            return std::nullopt;
        if (symbol.op == "abs")
            return *a < 0 ? -*a : *a;
        const Number b = symbol.operands.size() == 2 ? number(symbol.operands[1]) : std::nullopt;
        if (!b)
            return std::nullopt;
        if (symbol.op == "min" || symbol.op == "max")
            return symbol.op == "min" ? std::min(*a, *b) : std::max(*a, *b);
        return integerResult(symbol.op, *a, *b);
    }

    Truth truth(const NestCondition& condition) {
        using Kind = NestCondition::Kind;
        switch (condition.kind) {
        case Kind::Always:
            return true;
        case Kind::Never:
            return false;
        case Kind::Unknown:
            return std::nullopt;
        case Kind::NotNegative:
        case Kind::Zero:
        case Kind::NotZero:
            break;
        case Kind::All:
        case Kind::Any: {
            const bool decides = condition.kind == Kind::Any;
            bool isKnown = true;
            for (const NestCondition& part : condition.parts) {
                const Truth one = truth(part);
                if (one == decides)
                    return decides;
                isKnown = isKnown && one.has_value();
            }
            return isKnown ? Truth(!decides) : std::nullopt;
        }
        }
        const Number value = number(condition.expression);
        if (!value)
            return std::nullopt;
        return condition.kind == Kind::NotNegative ? *value >= 0
               : condition.kind == Kind::Zero      ? *value == 0
                                                   : *value != 0;
    }

    const Nest& nest_;
    const NestSizes& sizes_;
    Index3 block_{};
    Index3 thread_{};
    std::uint32_t phase_ = 0;
    std::map<Symbol, std::int64_t> iterators_;
    std::vector<std::pair<NestNodeId, std::int64_t>> rounds_;
    std::set<std::string> told_;
    NestRun run_;
};

} // namespace

NestRun runNest(const Nest& nest, const NestSizes& sizes, const std::vector<Index3>& blocks) {
    return Runner(nest, sizes).run(blocks);
}

} // namespace kernelskill::testing
