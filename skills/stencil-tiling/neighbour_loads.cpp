#include "skills/stencil-tiling/neighbour_loads.h"

#include "analysis/queries/code_map.h"
#include "skills/schedule/load_text.h"

#include <algorithm>
#include <optional>
#include <set>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Further away, a thread would need too many registers.
constexpr int maxSteps = 8;

bool isCounted(const RoundCounter& counter, Symbol symbol) {
    return std::ranges::find(counter.symbols, symbol) != counter.symbols.end();
}

bool asksFor(const Nest& nest, const RoundCounter& counter, const NestCondition& condition);

/// Whether the rounds change the number in a way that no coefficient tells.
bool variesHidden(const Nest& nest, const RoundCounter& counter, const IndexExpression& expression,
                  bool isHidden) {
    for (const auto& [monomial, coefficient] : expression.terms())
        for (const Symbol symbol : monomial) {
            if (isHidden && isCounted(counter, symbol))
                return true;
            const NestSymbol* known = nest.symbols.find(symbol);
            if (known == nullptr)
                continue;
            if (known->kind == NestSymbolKind::Value)
                return true;
            if (std::ranges::any_of(known->operands,
                                    [&](const IndexExpression& operand) {
                                        return variesHidden(nest, counter, operand, true);
                                    }) ||
                std::ranges::any_of(known->choice, [&](const NestCondition& choice) {
                    return asksFor(nest, counter, choice);
                }))
                return true;
        }
    return false;
}

bool asksFor(const Nest& nest, const RoundCounter& counter, const NestCondition& condition) {
    return condition.kind == NestCondition::Kind::Unknown ||
           variesHidden(nest, counter, condition.expression, true) ||
           std::ranges::any_of(condition.parts, [&](const NestCondition& part) {
               return asksFor(nest, counter, part);
           });
}

class LoadGrouper {
public:
    LoadGrouper(const SkillContext& context, const RoundCounter& counter,
                std::span<const StmtId> statements)
        : context_(context), nest_(context.shared().nest()), code_(context.code()),
          body_(code_.body()), counter_(counter), statements_(statements) {}

    std::vector<NeighbourLoads> group() {
        for (NestAccessId id = 0; id < nest_.accesses.size(); ++id)
            if (isPlainLoad(nest_.accesses[id]))
                add(id);
        std::erase_if(groups_, [](const NeighbourLoads& group) { return group.saved() == 0; });
        for (NeighbourLoads& group : groups_)
            std::ranges::sort(group.loads, {},
                              [&](const NeighbourLoad& load) { return load.text.begin; });
        return std::move(groups_);
    }

private:
    [[nodiscard]] bool isPlainLoad(const NestAccess& access) const {
        if (access.frame != 0 || access.kind != AccessKind::Read || access.array == noId ||
            access.expression == noId || !access.condition.isAlways() || !access.field.empty())
            return false;
        const NestArray& array = nest_.arrays[access.array];
        return !array.isVariable && array.space == MemorySpace::Global && array.lanes == 1 &&
               plainHolder(code_, statements_, access.expression) != noId;
    }

    /// The access, or the read-only load that it is an argument of.
    [[nodiscard]] ExprId loadOf(ExprId expr) const {
        for (ExprId above = code_.parent(expr); above != noId; above = code_.parent(above)) {
            const Expr& outer = body_.expr(above);
            if (outer.kind == ExprKind::Call && outer.name == "__ldg")
                return above;
            if (outer.kind != ExprKind::Cast && outer.op != "&")
                break;
        }
        return expr;
    }

    void add(NestAccessId id) {
        const NestAccess& access = nest_.accesses[id];
        const auto stride = strideOf(nest_, counter_, access);
        if (!stride)
            return;
        const ExprId load = loadOf(access.expression);
        const auto text = textOfLoad(*context_.file.source, code_, load);
        if (!text)
            return;
        for (NeighbourLoads& group : groups_) {
            if (group.array != access.array)
                continue;
            const NestAccess& other = nest_.accesses[group.loads.front().access];
            if (strideOf(nest_, counter_, other) != stride)
                continue;
            const IndexExpression difference = *access.index - *other.index;
            for (int step = -maxSteps; step <= maxSteps; ++step) {
                const IndexExpression far =
                    *stride * IndexExpression::constant(step * counter_.step);
                if (difference != far)
                    continue;
                group.loads.push_back({id, load, *text, step});
                group.first = std::min(group.first, step);
                group.last = std::max(group.last, step);
                return;
            }
        }
        groups_.push_back({access.array, {{id, load, *text, 0}}, 0, 0});
    }

    const SkillContext& context_;
    const Nest& nest_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const RoundCounter& counter_;
    std::span<const StmtId> statements_;
    std::vector<NeighbourLoads> groups_;
};

} // namespace

const NeighbourLoad* NeighbourLoads::at(int step) const {
    const auto found = std::ranges::find(loads, step, &NeighbourLoad::step);
    return found == loads.end() ? nullptr : &*found;
}

bool NeighbourLoads::hasAllSteps() const {
    for (int step = first; step <= last; ++step)
        if (at(step) == nullptr)
            return false;
    return true;
}

RoundCounter roundsAlong(const Nest& nest, std::uint8_t axis) {
    RoundCounter counter;
    const std::vector<NestSymbol>& symbols = nest.symbols.all();
    for (std::uint32_t id = 0; id < symbols.size(); ++id)
        if (symbols[id].kind == NestSymbolKind::Position && symbols[id].axis == axis)
            counter.symbols.push_back({SymbolKind::Named, id});
    counter.symbols.push_back({SymbolKind::ThreadIdx, axis});
    counter.symbols.push_back({SymbolKind::BlockIdx, axis});
    return counter;
}

std::optional<IndexExpression> strideOf(const Nest& nest, const RoundCounter& counter,
                                        const NestAccess& access) {
    if (!access.index || variesHidden(nest, counter, *access.index, false))
        return std::nullopt;
    // `blockIdx.y * 8 + threadIdx.y` holds both; one more round is one more thread.
    for (const Symbol symbol : counter.symbols)
        if (access.index->dependsOn(symbol)) {
            auto stride = access.index->coefficientOf(symbol);
            const bool isLinear = stride && std::ranges::none_of(counter.symbols, [&](Symbol each) {
                                      return stride->dependsOn(each);
                                  });
            return isLinear ? stride : std::nullopt;
        }
    return std::nullopt;
}

StmtId plainHolder(const CodeMap& code, std::span<const StmtId> statements, ExprId expr) {
    for (StmtId at = code.statement(expr); at != noId; at = code.body().stmt(at).parent) {
        const StmtKind kind = code.body().stmt(at).kind;
        if (kind != StmtKind::Expression && kind != StmtKind::Declaration &&
            kind != StmtKind::Compound)
            return noId;
        if (std::ranges::find(statements, at) != statements.end())
            return at;
    }
    return noId;
}

std::vector<NeighbourLoads> neighbourLoads(const SkillContext& context, const RoundCounter& counter,
                                           std::span<const StmtId> statements) {
    return LoadGrouper(context, counter, statements).group();
}

} // namespace kernelskill::skills
