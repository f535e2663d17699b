#include "analysis/queries/code_map.h"
#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/source_words.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/coalesced-access/coalescing_rewrite.h"
#include "skills/gates/aliasing.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::string_view allThreads = "blockDim.x * gridDim.x";

/// A loop over the elements of a thread's chunk, and the texts that change when the chunks are
/// interleaved: `for (i = flat * K; i < flat * K + K; ++i)`, its limit cut off at a size or not, or
/// `for (j = 0; j < K; ++j)` over the elements `flat * K + j`.
class ChunkLoop {
public:
    ChunkLoop(const SkillContext& context, const Loop& loop)
        : context_(context), code_(context.code()), body_(code_.body()), loop_(loop) {}

    bool find() {
        const Stmt& stmt = body_.stmt(loop_.statement);
        if (loop_.kind != LoopKind::For || loop_.inductionVariable == noId || loop_.step != 1 ||
            loop_.comparison != "<" || loop_.upperBound == noId || loop_.lowerBound == noId ||
            loop_.hasEarlyExit || stmt.parent != body_.root || stmt.fromMacro ||
            stmt.init == noId || !isWrittenAs(*context_.file.source, stmt.span, {"for"}) ||
            body_.expr(stmt.increment).fromMacro ||
            code_.declarationOf(loop_.inductionVariable) != stmt.init)
            return false;
        return code_.constantValue(loop_.lowerBound) == 0 ? walksPlaces() : walksElements();
    }

    /// Whether a use of a variable in the body is part of an element's index that follows.
    [[nodiscard]] bool isPartOfElement(ExprId use) const {
        return std::ranges::any_of(elements_, [&](ExprId element) {
            return body_.expr(element).span.contains(body_.expr(use).span);
        });
    }

    [[nodiscard]] std::vector<TextEdit> edits() const {
        std::vector<TextEdit> edits;
        for (const auto& [expr, text] : texts_)
            edits.push_back({body_.expr(expr).span, text});
        return edits;
    }

private:
    bool walksElements() {
        const VariableId start = code_.namedVariable(loop_.lowerBound);
        const std::size_t users = start == noId ? 0 : code_.uses(start).size();
        const ExprId product = definition(loop_.lowerBound);
        if (users > 2 || !dropLength(product))
            return false;
        const auto begin = polynomialOf(code_, product);
        const auto length = polynomialOf(code_, length_);
        if (!begin || !length || !moveEnd(*begin + *length))
            return false;
        // A start that more than the limit needs would keep its old meaning there.
        if (users == 2 && !isInEnd(start))
            return false;
        texts_[body_.stmt(loop_.statement).increment] =
            fmt::format("{} += {}", name(loop_.inductionVariable), allThreads);
        return true;
    }

    bool walksPlaces() {
        length_ = loop_.upperBound;
        const auto length = polynomialOf(code_, length_);
        if (!length || !isUniformInput(code_, length_))
            return false;
        const VariableId place = loop_.inductionVariable;
        const IndexExpression element =
            flatThreadIndex() * *length + IndexExpression::symbol({SymbolKind::Opaque, place});
        for (const ExprId use : code_.uses(place)) {
            if (!code_.holds(loop_.body, use))
                continue;
            ExprId sum = use;
            while (polynomialOf(code_, sum) != element) {
                sum = code_.parent(sum);
                if (sum == noId || body_.expr(sum).kind != ExprKind::Binary ||
                    body_.expr(sum).op != "+")
                    return false;
            }
            if (body_.expr(sum).fromMacro || sum == use || !dropLengthBelow(sum))
                return false;
            elements_.push_back(sum);
            texts_[use] = fmt::format("{} * {}", name(place), threadCount());
        }
        return !elements_.empty() && std::ranges::all_of(starts_, [&](VariableId start) {
            return std::ranges::all_of(code_.uses(start),
                                       [&](ExprId use) { return isPartOfElement(use); });
        });
    }

    /// In a sum, the product itself or the local that holds it.
    bool dropLengthBelow(ExprId sum) {
        for (const ExprId id : code_.expressionsBelow(sum)) {
            const auto value = polynomialOf(code_, id);
            if (!value || *value != flatThreadIndex() * *polynomialOf(code_, length_))
                continue;
            if (code_.namedVariable(id) != noId)
                starts_.push_back(code_.namedVariable(id));
            return dropLength(definition(id));
        }
        return false;
    }

    /// The initialiser of the local that `expr` names; `expr` itself when it names none.
    [[nodiscard]] ExprId definition(ExprId expr) const {
        const VariableId variable = code_.namedVariable(expr);
        if (variable == noId || body_.variable(variable).storage != Storage::Local ||
            code_.isEverWritten(variable) || body_.variable(variable).init == noId)
            return code_.withoutCasts(expr);
        return code_.withoutCasts(body_.variable(variable).init);
    }

    /// `flat * K` becomes `flat`.
    bool dropLength(ExprId product) {
        const Expr& expr = body_.expr(product);
        if (expr.kind != ExprKind::Binary || expr.op != "*" || expr.fromMacro)
            return false;
        for (std::size_t i = 0; i < 2; ++i) {
            const ExprId length = expr.children[1 - i];
            if (polynomialOf(code_, expr.children[i]) != flatThreadIndex() ||
                !isUniformInput(code_, length))
                continue;
            length_ = length_ == noId ? length : length_;
            texts_[product] = textOf(expr.children[i]);
            return true;
        }
        return false;
    }

    /// The end of the chunk becomes the end of all chunks, alone or in min(..., n).
    bool moveEnd(const IndexExpression& end) {
        const VariableId variable = code_.namedVariable(loop_.upperBound);
        if (variable != noId && code_.uses(variable).size() != 1)
            return false;
        end_ = definition(loop_.upperBound);
        const Expr& at = body_.expr(end_);
        const auto move = [&](ExprId id) {
            if (body_.expr(id).fromMacro)
                return false;
            texts_[id] = fmt::format("{} * {}", threadCount(), operand(length_));
            return true;
        };
        if (polynomialOf(code_, end_) == end)
            return move(end_);
        if (at.kind != ExprKind::Call || (at.name != "min" && at.name != "std::min") ||
            at.children.size() != 2 || at.fromMacro)
            return false;
        for (std::size_t i = 0; i < 2; ++i)
            if (polynomialOf(code_, at.children[i]) == end &&
                isUniformInput(code_, at.children[1 - i]))
                return move(at.children[i]);
        return false;
    }

    [[nodiscard]] bool isInEnd(VariableId start) const {
        return std::ranges::any_of(code_.uses(start), [&](ExprId use) {
            return body_.expr(end_).span.contains(body_.expr(use).span);
        });
    }

    /// In the type of the loop's variable, so that no operand changes its type.
    [[nodiscard]] std::string threadCount() const {
        return fmt::format("static_cast<{}>({})",
                           body_.variable(loop_.inductionVariable).type.spelling, allThreads);
    }

    [[nodiscard]] std::string operand(ExprId expr) const {
        const bool isCompound = body_.expr(expr).kind == ExprKind::Binary ||
                                body_.expr(expr).kind == ExprKind::Conditional;
        return isCompound ? "(" + textOf(expr) + ")" : textOf(expr);
    }

    [[nodiscard]] std::string textOf(ExprId expr) const {
        return std::string(context_.file.source->slice(body_.expr(expr).span));
    }

    [[nodiscard]] const std::string& name(VariableId variable) const {
        return body_.variable(variable).name;
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const Loop& loop_;
    ExprId length_ = noId;
    ExprId end_ = noId;
    std::vector<ExprId> elements_; ///< Sums of a chunk's start and a place in it.
    std::vector<VariableId> starts_;
    std::map<ExprId, std::string> texts_;
};

class ChunkInterleaving {
public:
    explicit ChunkInterleaving(const SkillContext& context)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()) {}

    FoundRewrite find() const {
        for (const Loop& loop : kernel_.loops) {
            ChunkLoop chunk(context_, loop);
            if (!chunk.find())
                continue;
            KERNELSKILL_CHECK(requireIndependentElements(loop, chunk));
            KERNELSKILL_CHECK(requireDistinctWrites(context_));
            return rewriteOf(loop, chunk);
        }
        return refuse("other-shape", "no thread walks over a chunk of its own");
    }

private:
    [[nodiscard]] std::uint32_t lineOf(ExprId expr) const {
        return lineNumber(context_, body_.expr(expr).span.begin);
    }

    [[nodiscard]] CoalescingRewrite rewriteOf(const Loop& loop, const ChunkLoop& chunk) const {
        CoalescingRewrite rewrite;
        rewrite.before = warpTraffic(context_, lanesOfBlock({32, 1, 1}));
        const Symbol element{SymbolKind::LoopVariable, loop.inductionVariable};
        rewrite.after = warpTraffic(context_, [&](int lane) {
            return std::map<Symbol, std::int64_t>{{{SymbolKind::ThreadIdx, 0}, 0}, {element, lane}};
        });
        rewrite.anchor = body_.stmt(loop.statement).span;
        rewrite.title = fmt::format("Let the threads of {} walk side by side", kernel_.name);
        rewrite.why = fmt::format("each thread walks over a chunk of its own (line {}), so that "
                                  "neighbouring lanes are a chunk apart: a warp touches {:.1f} "
                                  "sectors a request, and {:.1f} if its lanes walk side by side",
                                  lineNumber(context_, rewrite.anchor.begin),
                                  rewrite.before.sectors / rewrite.before.requests,
                                  rewrite.after.sectors / rewrite.after.requests);
        rewrite.edits = chunk.edits();
        return rewrite;
    }

    /// Every element by any thread, in any order.
    [[nodiscard]] Gated<void> requireIndependentElements(const Loop& loop,
                                                         const ChunkLoop& chunk) const {
        const std::uint32_t line = lineNumber(context_, body_.stmt(loop.statement).span.begin);
        if (!kernel_.barriers.empty() || !kernel_.warpOperations.empty() ||
            !kernel_.sharedArrays.empty() || !kernel_.atomics.empty() || !kernel_.calls.empty())
            return refuse("threads-cooperate",
                          fmt::format("it may matter which thread of {} has an element of the loop "
                                      "on line {}",
                                      kernel_.name, line));
        for (const Stmt& stmt : body_.stmts)
            if (stmt.kind == StmtKind::Return || stmt.kind == StmtKind::Goto ||
                stmt.kind == StmtKind::Asm || stmt.kind == StmtKind::Other)
                return refuse("early-exit",
                              fmt::format("a thread that leaves on line {} would leave elements of "
                                          "others behind",
                                          lineNumber(context_, stmt.span.begin)));
        for (ExprId id = 0; id < body_.exprs.size(); ++id)
            if (code_.holds(loop.body, id))
                KERNELSKILL_CHECK(requireElementOnly(loop, chunk, id));
        return requireDistinctElements(loop);
    }

    /// The body reads its own element or what is the same for all threads, and writes its own.
    [[nodiscard]] Gated<void> requireElementOnly(const Loop& loop, const ChunkLoop& chunk,
                                                 ExprId id) const {
        const Expr& expr = body_.expr(id);
        if (chunk.isPartOfElement(id))
            return {};
        if (expr.kind == ExprKind::BuiltinIndex)
            return refuse("uses-thread-position",
                          fmt::format("line {} uses {}.{} beside the element's index", lineOf(id),
                                      expr.name, "xyz"[expr.axis % 3]));
        if (expr.kind != ExprKind::Variable || expr.variable == noId ||
            expr.variable == loop.inductionVariable)
            return {};
        const StmtId declaration = code_.declarationOf(expr.variable);
        if (declaration != noId && code_.encloses(loop.body, declaration))
            return {};
        if (code_.isWrite(id))
            return refuse("carries-over",
                          fmt::format("line {} changes {}, which the thread's next element sees",
                                      lineOf(id), body_.variable(expr.variable).name));
        if (body_.variable(expr.variable).type.pointerDepth > 0 &&
            body_.variable(expr.variable).storage == Storage::Parameter &&
            !code_.isEverWritten(expr.variable))
            return {};
        if (!isUniformInput(code_, id))
            return refuse("uses-thread-position",
                          fmt::format("{} on line {} may be another value for another thread",
                                      body_.variable(expr.variable).name, lineOf(id)));
        return {};
    }

    [[nodiscard]] Gated<void> requireDistinctElements(const Loop& loop) const {
        const Symbol element{SymbolKind::LoopVariable, loop.inductionVariable};
        for (const MemoryAccess& write : kernel_.accesses) {
            if (write.kind == AccessKind::Read || write.space == MemorySpace::Local)
                continue;
            const auto step = write.index ? write.index->coefficientOf(element) : std::nullopt;
            const auto apart = step ? step->asConstant() : std::nullopt;
            const bool isDistinct =
                apart && *apart != 0 && code_.holds(loop.body, write.expression);
            const auto clash =
                std::ranges::find_if(kernel_.accesses, [&](const MemoryAccess& other) {
                    return other.base == write.base && other.index != write.index;
                });
            if (!isDistinct || clash != kernel_.accesses.end())
                return refuse("elements-overlap",
                              fmt::format("the store on line {} may touch what another element "
                                          "touches",
                                          lineOf(write.expression)));
        }
        return {};
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
};

} // namespace

FoundRewrite interleaveChunks(const SkillContext& context) {
    return ChunkInterleaving(context).find();
}

} // namespace kernelskill::skills
