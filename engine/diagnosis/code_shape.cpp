#include "engine/diagnosis/code_shape.h"

#include "engine/diagnosis/shape_finder.h"

#include <algorithm>
#include <utility>

namespace kernelskill::engine {

using namespace analysis;

void ShapeNotes::add(std::string_view name, std::uint32_t frame, Span span, std::string word,
                     double value) {
    if (has(name))
        return;
    ShapeFact fact{name, span, std::move(word), value, {}};
    if (frame != 0) {
        fact.function = warp_.functionOf(frame).name;
        fact.span = callTo(frame);
    }
    facts_.push_back(std::move(fact));
}

void ShapeNotes::add(std::string_view name, NestAccessId id) {
    const NestAccess& access = warp_.nest().accesses[id];
    const Span span = access.expression == noId
                          ? warp_.nest().node(access.node).span
                          : warp_.functionOf(access.frame).body.expr(access.expression).span;
    add(name, access.frame, span,
        access.array == noId ? "memory" : warp_.nest().arrays[access.array].name);
}

void ShapeNotes::add(std::string_view name, NestNodeId node, std::string word) {
    add(name, warp_.nest().node(node).frame, warp_.nest().node(node).span, std::move(word));
}

Span ShapeNotes::callTo(std::uint32_t frame) const {
    const std::vector<NestFrame>& frames = warp_.nest().frames;
    while (frames[frame].caller != 0 && frames[frame].caller != noId)
        frame = frames[frame].caller;
    const ExprId call = frames[frame].call;
    return call == noId ? warp_.kernel().nameSpan : warp_.kernel().body.expr(call).span;
}

bool ShapeNotes::has(std::string_view name) const {
    return std::ranges::find(facts_, name, &ShapeFact::name) != facts_.end();
}

std::vector<NestNodeId> serialLoops(const Nest& nest, NestNodeId node) {
    std::vector<NestNodeId> loops;
    for (NestNodeId at = node; at != noId; at = nest.node(at).parent) {
        const NestLoop* loop = nest.node(at).loop();
        if (loop != nullptr && loop->style == NestLoopStyle::Serial)
            loops.push_back(at);
    }
    return loops;
}

bool isBelow(const Nest& nest, NestNodeId outer, NestNodeId node) {
    while (node != noId && node != outer)
        node = nest.node(node).parent;
    return node == outer;
}

bool isBesideLongLoop(const WarpView& warp, const NestAccess& access) {
    constexpr std::int64_t manyRounds = 16;
    const Nest& nest = warp.nest();
    return std::ranges::any_of(nest.accesses, [&](const NestAccess& other) {
        if (other.array == noId || other.array == access.array || other.node == noId ||
            !isIn(nest, other, MemorySpace::Global))
            return false;
        const std::vector<NestNodeId> loops = serialLoops(nest, other.node);
        return std::ranges::any_of(loops, [&](NestNodeId loop) {
            return !isBelow(nest, loop, access.node) &&
                   warp.rounds(loop).value_or(manyRounds) >= manyRounds;
        });
    });
}

bool isIn(const Nest& nest, const NestAccess& access, MemorySpace space) {
    if (access.array == noId)
        return space == MemorySpace::Global;
    const NestArray& array = nest.arrays[access.array];
    return !array.isVariable && (array.space == space || (space == MemorySpace::Global &&
                                                          array.space == MemorySpace::Generic));
}

namespace {

template <typename Test>
bool anySymbol(const Nest& nest, const IndexExpression& expression, const Test& test) {
    return std::ranges::any_of(expression.terms(), [&](const auto& term) {
        return std::ranges::any_of(term.first, [&](Symbol symbol) {
            if (test(symbol))
                return true;
            const NestSymbol* named = nest.symbols.find(symbol);
            return named != nullptr &&
                   std::ranges::any_of(named->operands, [&](const IndexExpression& operand) {
                       return anySymbol(nest, operand, test);
                   });
        });
    });
}

} // namespace

bool mentions(const Nest& nest, const IndexExpression& expression, Symbol symbol) {
    return anySymbol(nest, expression, [&](Symbol found) { return found == symbol; });
}

namespace {

/// Whether the rounds that the iterator counts are shared by threads, or begin where the thread
/// says.
bool beginsByThread(const Nest& nest, Symbol iterator) {
    for (const NestNode& node : nest.nodes) {
        const NestLoop* loop = node.loop();
        if (loop != nullptr && loop->iterator == iterator)
            return loop->style != NestLoopStyle::Serial ||
                   (loop->first && *loop->first != IndexExpression::symbol(iterator) &&
                    mentionsThread(nest, *loop->first));
    }
    return false;
}

} // namespace

bool mentionsThread(const Nest& nest, const IndexExpression& expression) {
    return anySymbol(nest, expression, [&](Symbol symbol) {
        const NestSymbol* named = nest.symbols.find(symbol);
        if (named == nullptr)
            return symbol.kind == SymbolKind::ThreadIdx || symbol.kind == SymbolKind::BlockIdx;
        return named->kind == NestSymbolKind::Position ||
               (named->kind == NestSymbolKind::Iterator && beginsByThread(nest, symbol));
    });
}

bool isRestOfVectors(const WarpView& warp, NestAccessId id) {
    const Nest& nest = warp.nest();
    const NestAccess& access = nest.accesses[id];
    const WarpReach& reach = warp.reach(id);
    if (!reach.stride || access.expression == noId || access.frame != 0)
        return false;
    const FunctionBody& body = warp.kernel().body;
    const Span here = body.expr(access.expression).span;
    const auto isIn = [&](StmtId branch, Span span) {
        return body.stmt(branch).span.contains(span);
    };
    for (const Stmt& stmt : body.stmts) {
        if (stmt.kind != StmtKind::If || stmt.children.size() != 2 ||
            isIn(stmt.children[0], here) == isIn(stmt.children[1], here))
            continue;
        const StmtId other = isIn(stmt.children[0], here) ? stmt.children[1] : stmt.children[0];
        for (const NestAccess& vector : nest.accesses)
            if (vector.array == access.array && vector.frame == 0 && vector.expression != noId &&
                vector.width > reach.width && vector.width >= std::abs(*reach.stride) &&
                isIn(other, body.expr(vector.expression).span))
                return true;
    }
    return false;
}

bool carriesValue(const Nest& nest, NestNodeId loop) {
    std::set<NestArrayId> read;
    std::set<NestArrayId> written;
    std::set<NestArrayId> declared;
    for (const NestAccess& access : nest.accesses) {
        if (access.array == noId || !nest.arrays[access.array].isVariable ||
            !isBelow(nest, loop, access.node))
            continue;
        if (access.expression == noId)
            declared.insert(access.array);
        if (access.kind != AccessKind::Write)
            read.insert(access.array);
        if (access.kind != AccessKind::Read)
            written.insert(access.array);
    }
    const bool carriesNumber = std::ranges::any_of(written, [&](NestArrayId array) {
        return read.contains(array) && !declared.contains(array);
    });
    if (carriesNumber)
        return true;
    // Integers are followed, so that a sum of them is a statement without a variable.
    for (NestNodeId node = loop; node < nest.nodes.size(); ++node) {
        const NestStatement* statement = nest.node(node).computation();
        if (statement == nullptr || statement->reduction.empty() || !isBelow(nest, loop, node))
            continue;
        if (std::ranges::none_of(statement->accesses, [&](NestAccessId id) {
                return nest.accesses[id].kind != AccessKind::Read;
            }))
            return true;
    }
    return false;
}

bool isGeometric(const NestLoop& loop) {
    return !loop.step && (loop.stepOperator == ">>=" || loop.stepOperator == "<<=" ||
                          loop.stepOperator == "*=" || loop.stepOperator == "/=");
}

const ShapeFact* CodeShape::find(std::string_view name) const {
    const auto found = std::ranges::find(facts, name, &ShapeFact::name);
    return found == facts.end() ? nullptr : &*found;
}

CodeShape codeShapeOf(const WarpView& warp) {
    ShapeNotes notes(warp);
    std::set<AccessInLoop> overlapping;
    findReuseShapes(warp, notes, overlapping);
    findAccessShapes(warp, notes);
    findControlShapes(warp, notes);
    findSynchronisationShapes(warp, notes);
    CodeShape shape;
    shape.work = staticWork(warp, overlapping);
    findArithmeticShapes(warp, shape.work, notes);
    shape.facts = notes.take();
    return shape;
}

std::vector<std::string_view> shapeNames() {
    return {shape::records,
            shape::pairs,
            shape::rowReduction,
            shape::rowMap,
            shape::rowRecurrence,
            shape::rowWalk,
            shape::raggedRows,
            shape::transposition,
            shape::swappedAxes,
            shape::strided,
            shape::indirect,
            shape::columnReduction,
            shape::smallTable,
            shape::resampling,
            shape::treeWalk,
            shape::columnRecurrence,
            shape::sharedWalk,
            shape::product,
            shape::tiledProduct,
            shape::halfProduct,
            shape::pairwise,
            shape::stencil,
            shape::lineStencil,
            shape::tiledStencil,
            shape::streaming,
            shape::streamingWide,
            shape::halves,
            shape::normalisation,
            shape::laneBranch,
            shape::interleaved,
            shape::dataBranch,
            shape::dataLoop,
            shape::linearSearch,
            shape::binarySearch,
            shape::chase,
            shape::oneAddress,
            shape::counter,
            shape::sharedTotal,
            shape::histogram,
            shape::scatterAtomics,
            shape::lock,
            shape::sharedTree,
            shape::stridedTree,
            shape::sharedScan,
            shape::exchange,
            shape::steps,
            shape::gridSteps,
            shape::functions,
            shape::uniformFunction,
            shape::doubles,
            shape::oneThread};
}

} // namespace kernelskill::engine
