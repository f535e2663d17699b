#include "skills/occupancy-shared-memory-tradeoff/reusable_arrays.h"

#include "analysis/queries/source_layout.h"
#include "analysis/source/try.h"
#include "analysis/syntax/lexer.h"
#include "skills/base/gates.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// A static shared array of the kernel's outermost block, and the statements of it that use it.
struct Tile {
    VariableId variable = noId;
    StmtId declaration = noId;
    std::uint64_t bytes = 0;
    std::size_t first = 0; ///< Places in the outermost block.
    std::size_t last = 0;
};

std::string elementOf(const Type& type) {
    std::string element = type.canonical.substr(0, type.canonical.find('['));
    element.erase(element.find_last_not_of(' ') + 1);
    return element;
}

class Finder {
public:
    Finder(const SkillContext& context, const CodeMap& code)
        : context_(context), kernel_(context.kernel), code_(code), body_(code.body()),
          block_(code.statementsOf(body_.root)), layout_(*context.file.source, context.kernel) {}

    Gated<ReusableArrays> find() const {
        const std::vector<Tile> tiles = usedTiles();
        std::optional<ReusableArrays> best;
        std::optional<Refusal> first;
        for (const Tile& kept : tiles)
            for (const Tile& placed : tiles) {
                const bool isOrdered = kept.bytes > placed.bytes ||
                                       (kept.bytes == placed.bytes && begin(kept) < begin(placed));
                if (kept.variable == placed.variable || !isOrdered)
                    continue;
                auto pair = study(kept, placed);
                if (!pair && !first)
                    first = pair.error();
                if (pair && (!best || pair->savedBytes > best->savedBytes))
                    best = std::move(*pair);
            }
        if (best)
            return *best;
        if (first)
            return std::unexpected(*first);
        return refuse(
            "one-shared-array",
            fmt::format("{} has no two shared arrays of known size in its outermost block",
                        kernel_.name));
    }

private:
    [[nodiscard]] std::uint32_t begin(const Tile& tile) const {
        return body_.stmt(tile.declaration).span.begin;
    }
    [[nodiscard]] const std::string& name(const Tile& tile) const {
        return body_.variable(tile.variable).name;
    }
    [[nodiscard]] std::uint32_t line(StmtId stmt) const {
        return lineNumber(context_, body_.stmt(stmt).span.begin);
    }

    [[nodiscard]] std::vector<Tile> usedTiles() const {
        std::vector<Tile> tiles;
        for (const SharedArray& array : kernel_.sharedArrays) {
            Tile tile{array.variable, code_.declarationOf(array.variable), array.bytes, 0, 0};
            const auto uses = [&](StmtId stmt) {
                return std::ranges::any_of(code_.uses(tile.variable),
                                           [&](ExprId use) { return code_.holds(stmt, use); });
            };
            const auto first = std::ranges::find_if(block_, uses);
            if (array.isDynamic || array.bytes == 0 || first == block_.end() ||
                std::ranges::find(block_, tile.declaration) == block_.end())
                continue;
            tile.first = static_cast<std::size_t>(first - block_.begin());
            for (std::size_t at = tile.first; at < block_.size(); ++at)
                if (uses(block_[at]))
                    tile.last = at;
            tiles.push_back(tile);
        }
        return tiles;
    }

    [[nodiscard]] Gated<ReusableArrays> study(const Tile& kept, const Tile& placed) const {
        if (elementOf(body_.variable(kept.variable).type) !=
            elementOf(body_.variable(placed.variable).type))
            return refuse("element-types-differ",
                          fmt::format("{} and {} have elements of different types", name(kept),
                                      name(placed)));
        for (const Tile* tile : {&kept, &placed})
            KERNELSKILL_CHECK(requirePlainUses(*tile));
        const Tile& earlier = kept.last < placed.first ? kept : placed;
        const Tile& later = &earlier == &kept ? placed : kept;
        if (earlier.last >= later.first)
            return refuse("used-together",
                          fmt::format("line {} needs both {} and {}, or {} again behind {}",
                                      line(block_[earlier.last]), name(kept), name(placed),
                                      name(earlier), name(later)));
        ReusableArrays found;
        found.kept = kept.variable;
        found.placed = placed.variable;
        found.earlier = earlier.variable;
        found.keptDeclaration = kept.declaration;
        found.placedDeclaration = placed.declaration;
        found.savedBytes = placed.bytes;
        KERNELSKILL_CHECK(readDeclarations(found));
        if (!meetBetween(earlier, later)) {
            KERNELSKILL_CHECK(requireBarrierPlace(later));
            found.needsBarrierBefore = block_[later.first];
        }
        return found;
    }

    /// Every use names one element, so that no pointer to the array outlives it.
    [[nodiscard]] Gated<void> requirePlainUses(const Tile& tile) const {
        const std::size_t rank = body_.variable(tile.variable).type.arrayExtents.size();
        for (const ExprId use : code_.uses(tile.variable)) {
            ExprId element = use;
            std::size_t subscripts = 0;
            while (subscripts < rank) {
                const ExprId parent = parentOf(element);
                if (parent == noId || body_.expr(parent).kind != ExprKind::Subscript ||
                    code_.withoutCasts(body_.expr(parent).children[0]) != element)
                    break;
                element = parent;
                ++subscripts;
            }
            const ExprId parent = code_.parent(element);
            const bool isAddress = parent != noId && body_.expr(parent).kind == ExprKind::Unary &&
                                   body_.expr(parent).op == "&";
            if (subscripts < rank || (isAddress && !isAtomic(code_.parent(parent))))
                return refuse("pointer-kept",
                              fmt::format("line {} uses {} other than by its elements",
                                          lineNumber(context_, body_.expr(use).span.begin),
                                          name(tile)));
        }
        return {};
    }

    /// Casts aside: arrays become pointers on the way.
    [[nodiscard]] ExprId parentOf(ExprId expr) const {
        ExprId parent = code_.parent(expr);
        while (parent != noId && body_.expr(parent).kind == ExprKind::Cast)
            parent = code_.parent(parent);
        return parent;
    }

    [[nodiscard]] bool isAtomic(ExprId call) const {
        return std::ranges::find(kernel_.atomics, call, &Atomic::call) != kernel_.atomics.end();
    }

    /// `__syncthreads();` and nothing else.
    [[nodiscard]] bool isBarrier(StmtId id) const {
        const Stmt& stmt = body_.stmt(id);
        return stmt.kind == StmtKind::Expression &&
               std::ranges::any_of(kernel_.barriers, [&](const Barrier& barrier) {
                   return barrier.kind == BarrierKind::SyncThreads && barrier.call == stmt.expr;
               });
    }

    /// Whether each round of the statement, a loop, ends at a barrier.
    [[nodiscard]] bool endsAtBarrier(StmtId id) const {
        const auto loop = std::ranges::find(kernel_.loops, id, &Loop::statement);
        if (loop == kernel_.loops.end() || loop->hasEarlyExit)
            return false;
        const std::vector<StmtId> rounds = code_.statementsOf(loop->body);
        return !rounds.empty() && isBarrier(rounds.back()) &&
               std::ranges::none_of(code_.statementsIn(loop->body), [&](StmtId inner) {
                   return body_.stmt(inner).kind == StmtKind::Continue;
               });
    }

    [[nodiscard]] bool meetBetween(const Tile& earlier, const Tile& later) const {
        if (endsAtBarrier(block_[earlier.last]))
            return true;
        for (std::size_t at = earlier.last + 1; at < later.first; ++at)
            if (isBarrier(block_[at]))
                return true;
        return false;
    }

    /// All threads come by the place where the later array is used first.
    [[nodiscard]] Gated<void> requireBarrierPlace(const Tile& later) const {
        const StmtId place = block_[later.first];
        for (const StmtId id : code_.statementsIn(body_.root)) {
            const StmtKind kind = body_.stmt(id).kind;
            if (kind == StmtKind::Return || kind == StmtKind::Goto || kind == StmtKind::Asm)
                return refuse("early-exit",
                              fmt::format("no barrier can be put before line {}: threads may leave "
                                          "on line {}",
                                          line(place), line(id)));
        }
        const Stmt& stmt = body_.stmt(place);
        if (stmt.fromMacro || !layout_.startsLine(stmt.span.begin))
            return refuse("several-statements-a-line",
                          fmt::format("line {} has more than one statement", line(place)));
        return {};
    }

    [[nodiscard]] Gated<void> readDeclarations(ReusableArrays& found) const {
        const SourceText& source = *context_.file.source;
        for (const StmtId id : {found.keptDeclaration, found.placedDeclaration}) {
            const Stmt& stmt = body_.stmt(id);
            if (stmt.fromMacro || stmt.declared.size() != 1 ||
                !layout_.startsLine(stmt.span.begin) || !layout_.endsLine(stmt.span.end))
                return refuse("several-declarations",
                              fmt::format("line {} is not the declaration of one array", line(id)));
        }
        const Stmt& placed = body_.stmt(found.placedDeclaration);
        const std::string& name = body_.variable(found.placed).name;
        const std::vector<Token> tokens = lex(source.text(), placed.span);
        const auto at = std::ranges::find(tokens, name, &Token::text);
        const auto close = std::ranges::find(tokens, ";", &Token::text);
        if (at == tokens.end() || close == tokens.end() || close < at || at + 1 == close ||
            (at + 1)->text != "[")
            return refuse("several-declarations", fmt::format("line {} is no plain declaration",
                                                              line(found.placedDeclaration)));
        for (const Token& token : std::span(tokens.begin(), at)) {
            if (token.text == "__shared__" || token.text == "static")
                continue;
            if (token.kind != TokenKind::Identifier && token.text != "::")
                return refuse("several-declarations",
                              fmt::format("the type of {} is not written as a plain name", name));
            if (token.text.contains("align") || token.text == "volatile")
                return refuse("several-declarations",
                              fmt::format("{} is aligned or volatile", name));
            const bool joins = token.text == "::" || found.elementType.ends_with("::") ||
                               found.elementType.empty();
            found.elementType += (joins ? "" : " ") + std::string(token.text);
        }
        found.extents = source.slice({(at + 1)->span.begin, (close - 1)->span.end});
        return {};
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const std::vector<StmtId> block_;
    const SourceLayout layout_;
};

} // namespace

Gated<ReusableArrays> findReusableArrays(const SkillContext& context, const CodeMap& code) {
    return Finder(context, code).find();
}

} // namespace kernelskill::skills
