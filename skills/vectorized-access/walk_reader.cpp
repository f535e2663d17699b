#include "skills/vectorized-access/walk_reader.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/loop_effects.h"
#include "analysis/source/gpu_constants.h"
#include "analysis/source/try.h"
#include "analysis/syntax/scalar_bytes.h"
#include "skills/base/gates.h"
#include "skills/editing/operand_text.h"
#include "skills/gates/vector_types.h"
#include "skills/schedule/fold_text.h"
#include "skills/schedule/nest_queries.h"
#include "skills/vectorized-access/addend.h"
#include "skills/vectorized-access/first_element.h"
#include "skills/vectorized-access/walk_folds.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string_view>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// More statements than this, copied once for each element, are unreadable.
constexpr std::size_t maxStatements = 8;

/// With fewer elements than this times the threads, most threads would have no group.
constexpr std::int64_t minElementsOfThread = 2;

class WalkReader {
public:
    WalkReader(const SkillContext& context, std::uint32_t index)
        : context_(context), code_(context.code()), body_(code_.body()),
          source_(*context.file.source), nest_(context.shared().nest()),
          loop_(context.kernel.loops[index]), index_(index) {}

    Gated<SharedWalk> read() {
        KERNELSKILL_CHECK(findThreads());
        KERNELSKILL_TRY(walk_.form, readAdvancingLoop(context_, code_, index_));
        KERNELSKILL_CHECK(requireOwnLines(context_, code_, loop_));
        KERNELSKILL_CHECK(requireWholeWarps());
        const ThreadValues values(context_.file, context_.kernel, code_, walk_.sharers);
        if (values.mayPart(walk_.statement))
            return refuse("divergent-branch",
                          fmt::format("some of the threads that share the loop on line {} may not "
                                      "come to it",
                                      line()));
        KERNELSKILL_CHECK(requireSimpleWork());
        KERNELSKILL_CHECK(findElements());
        LaneLoopReader reader(context_);
        KERNELSKILL_TRY(walk_.effects, reader.readShared(walk_.node, index_));
        KERNELSKILL_CHECK(requireFoldsByGroups(context_, walk_, reader));
        KERNELSKILL_CHECK(requireStoredOnce());
        KERNELSKILL_CHECK(splitStart());
        KERNELSKILL_CHECK(requireKnownAddresses());
        KERNELSKILL_CHECK(requireLongEnough());
        KERNELSKILL_CHECK(requireSameForAll(values));
        KERNELSKILL_CHECK(requireFoldsOfAll(context_, walk_, values));
        return std::move(walk_);
    }

private:
    [[nodiscard]] std::uint32_t line() const { return lineOf(walk_.statement); }
    [[nodiscard]] std::uint32_t lineOf(StmtId stmt) const {
        return lineNumber(context_, body_.stmt(stmt).span.begin);
    }
    [[nodiscard]] std::uint32_t lineOfExpr(ExprId expr) const {
        return lineNumber(context_, body_.expr(expr).span.begin);
    }
    [[nodiscard]] const NestLoop& nestLoop() const { return *nest_.node(walk_.node).loop(); }

    /// The threads that share the loop, and the symbol of a thread's number among them.
    Gated<void> findThreads() {
        walk_.statement = loop_.statement;
        for (NestNodeId id = 0; id < nest_.nodes.size(); ++id)
            if (nest_.node(id).loop() != nullptr && nest_.node(id).frame == 0 &&
                nest_.node(id).statement == walk_.statement)
                walk_.node = id;
        const auto no = [&] {
            return refuse("no-shared-loop",
                          fmt::format("the rounds of the loop on line {} are not shared by threads "
                                      "that are side by side",
                                      line()));
        };
        if (walk_.node == noId || !nestLoop().first || !nestLoop().step || nestLoop().axis != 0 ||
            nestLoop().variable == noId)
            return no();
        const auto& steps = nestLoop().step->terms();
        if (steps.size() != 1)
            return no();
        const std::int64_t factor = steps.begin()->second;
        switch (nestLoop().style) {
        case NestLoopStyle::BlockStride:
            walk_.sharers = {LoopSharers::Kind::Block, 0};
            thread_ = {SymbolKind::ThreadIdx, 0};
            if (nestLoop().first->terms().at({thread_}) != 1)
                return no();
            break;
        case NestLoopStyle::GridStride: {
            walk_.sharers = {LoopSharers::Kind::Grid, 0};
            const auto found = std::ranges::find_if(nest_.symbols.all(), [](const auto& symbol) {
                return symbol.kind == NestSymbolKind::Position && symbol.axis == 0;
            });
            if (factor != 1 || found == nest_.symbols.all().end())
                return no();
            thread_ = {SymbolKind::Named,
                       static_cast<std::uint32_t>(found - nest_.symbols.all().begin())};
            break;
        }
        case NestLoopStyle::WarpStride:
            walk_.sharers = {LoopSharers::Kind::Lanes, factor};
            for (const auto& [monomial, count] : nestLoop().first->terms())
                if (monomial.size() == 1 && count == 1 && isLane(monomial.front()))
                    thread_ = monomial.front();
            if (thread_.kind != SymbolKind::Named)
                return no();
            break;
        default:
            return no();
        }
        return {};
    }

    /// threadIdx.x % lanes
    [[nodiscard]] bool isLane(Symbol symbol) const {
        const NestSymbol* named = nest_.symbols.find(symbol);
        if (named == nullptr || named->op != "%" ||
            named->operands[1] != IndexExpression::constant(walk_.sharers.lanes))
            return false;
        const auto& terms = named->operands[0].terms();
        if (terms.size() != 1 || terms.begin()->second != 1 || terms.begin()->first.size() != 1)
            return false;
        const Symbol thread = terms.begin()->first.front();
        const NestSymbol* position = nest_.symbols.find(thread);
        return thread == Symbol{SymbolKind::ThreadIdx, 0} ||
               (position != nullptr && position->kind == NestSymbolKind::Position &&
                position->axis == 0);
    }

    /// Lanes are numbered through in each block.
    [[nodiscard]] Gated<void> requireWholeWarps() const {
        if (walk_.sharers.kind != LoopSharers::Kind::Lanes)
            return {};
        if (walk_.sharers.lanes > warpLanes)
            return refuse("no-shared-loop",
                          fmt::format("the loop on line {} is shared by more than a warp", line()));
        for (const LaunchSite& launch : context_.kernel.launches)
            if (!launch.constantBlock.empty() && launch.constantBlock[0] % warpLanes != 0)
                return refuse("partial-warps",
                              fmt::format("the launch on {} has blocks of {} threads, which are no "
                                          "whole warps",
                                          placeOf(context_, launch), launch.constantBlock[0]));
        return {};
    }

    Gated<void> requireSimpleWork() {
        if (loop_.hasEarlyExit)
            return refuse("early-exit", fmt::format("the loop on line {} may end early", line()));
        for (const StmtId id : code_.statementsOf(loop_.body))
            if (id != walk_.form.advance)
                walk_.work.push_back(id);
        std::size_t statements = 0;
        for (const StmtId top : walk_.work)
            for (const StmtId id : code_.statementsIn(top)) {
                const Stmt& stmt = body_.stmt(id);
                statements += stmt.kind != StmtKind::Compound ? 1 : 0;
                if (stmt.fromMacro)
                    return refuse("from-macro",
                                  fmt::format("line {} comes out of a macro", lineOf(id)));
                if (stmt.kind == StmtKind::Continue)
                    return refuse("early-exit",
                                  fmt::format("line {} skips the rest of the work", lineOf(id)));
                if (stmt.kind != StmtKind::Compound && stmt.kind != StmtKind::Declaration &&
                    stmt.kind != StmtKind::Expression && stmt.kind != StmtKind::If &&
                    stmt.kind != StmtKind::Null)
                    return refuse("no-shared-loop",
                                  fmt::format("line {} does more than to compute", lineOf(id)));
            }
        if (statements > maxStatements)
            return refuse("work-too-large",
                          fmt::format("{} statements would be copied for each element of a vector",
                                      statements));
        for (const StmtId top : walk_.work)
            for (const ExprId id : code_.expressionsIn(top)) {
                const Expr& expr = body_.expr(id);
                if (expr.kind != ExprKind::Call)
                    continue;
                if (std::ranges::any_of(context_.kernel.atomics,
                                        [&](const Atomic& atomic) { return atomic.call == id; }))
                    return refuse("atomic",
                                  fmt::format("line {} has an atomic, which has no vector form",
                                              lineOfExpr(id)));
                if (!isKnownCall(context_.file, context_.kernel, expr))
                    return refuse("call-in-loop",
                                  fmt::format("what {} on line {} does beside its result is not "
                                              "known",
                                              expr.name, lineOfExpr(id)));
            }
        return {};
    }

    Gated<void> findElements() {
        std::string other;
        for (const MemoryAccess& access : context_.kernel.accesses) {
            if (!code_.holds(loop_.body, access.expression) || access.space == MemorySpace::Local ||
                isVariable(access.expression))
                continue;
            KERNELSKILL_TRY(const auto why, addAccess(access));
            if (!why.empty())
                other = why;
        }
        for (WalkedElements& elements : walk_.elements) {
            std::uint32_t unconditional = 0;
            for (const WalkedAccess& access : walk_.accesses)
                if (&walk_.elements[access.elements] == &elements &&
                    isUnconditional(code_, walk_.work, access.replaced))
                    ++unconditional;
            if (unconditional == 0)
                return refuse("no-unit-stride-access",
                              fmt::format("{} is only read under a condition in the loop on line "
                                          "{}",
                                          elements.name, line()));
        }
        if (walk_.elements.empty())
            return refuse("no-unit-stride-access",
                          other.empty() ? fmt::format("the loop on line {} moves no elements that "
                                                      "are side by side",
                                                      line())
                                        : other);
        return chooseTypes();
    }

    /// Whether the part of an address is the same in all rounds: made of what the loop leaves
    /// alone, and of elements that no store of the kernel can change, such as the row that a table
    /// names.
    [[nodiscard]] bool isFixedPart(ExprId part) const {
        if (isFixedOutside(code_, loop_, part, walk_.form.advance))
            return true;
        const Expr& expr = body_.expr(part);
        if (expr.kind == ExprKind::Cast ||
            (expr.kind == ExprKind::Binary && !isAssignment(expr.op)))
            return std::ranges::all_of(expr.children,
                                       [&](ExprId child) { return isFixedPart(child); });
        const auto isIndex = [&](ExprId id) { return code_.namedVariable(id) == walk_.form.index; };
        if (expr.kind != ExprKind::Subscript || expr.type.isVolatile ||
            std::ranges::any_of(code_.expressionsBelow(part), isIndex))
            return false;
        const VariableId array = code_.namedVariable(expr.children[0]);
        return array != noId &&
               isFixedOutside(code_, loop_, expr.children[0], walk_.form.advance) &&
               isFixedPart(expr.children[1]) && isLeftAlone(array, expr.type.scalar);
    }

    /// Whether no store of the kernel can change elements of the array, which are of type `scalar`:
    /// none goes through the array, to elements of that type, or to characters, which may be part
    /// of any object.
    [[nodiscard]] bool isLeftAlone(VariableId array, ScalarKind scalar) const {
        return std::ranges::none_of(context_.kernel.accesses, [&](const MemoryAccess& access) {
            if (access.kind == AccessKind::Read || access.space == MemorySpace::Local ||
                isVariable(access.expression))
                return false;
            const ScalarKind stored = body_.expr(access.expression).type.scalar;
            return access.base == noId || access.base == array || stored == scalar ||
                   scalarBytes(stored) <= 1;
        });
    }

    [[nodiscard]] bool isVariable(ExprId expression) const {
        return body_.expr(code_.withoutCasts(expression)).kind == ExprKind::Variable;
    }

    /// Adds the access to those of the walk; else the reason why it may stay as it is, or a refusal
    /// if it may not.
    Gated<std::string> addAccess(const MemoryAccess& access) {
        const std::uint32_t at = lineOfExpr(access.expression);
        const ExprId element = elementOf(code_, access.expression);
        const Expr& subscript = body_.expr(element);
        const bool isMember = body_.expr(access.expression).kind == ExprKind::Member;
        auto rest = subscript.kind == ExprKind::Subscript && !subscript.fromMacro && !isMember
                        ? withoutAddend(code_, source_, subscript.children[1],
                                        [&](ExprId id) {
                                            return code_.namedVariable(id) == walk_.form.index;
                                        })
                        : std::nullopt;
        const bool isWalk =
            rest && access.base != noId && isOwnPointer(subscript.children[0]) &&
            std::ranges::all_of(rest->parts, [&](ExprId part) { return isFixedPart(part); });
        if (!isWalk) {
            if (access.kind != AccessKind::Read)
                return refuse("strided-access",
                              fmt::format("line {} stores other than side by side", at));
            if (namesIndex(element))
                return refuse("strided-access",
                              fmt::format("the access on line {} is not one of neighbouring "
                                          "elements in neighbouring rounds",
                                          at));
            return fmt::format("what line {} reads does not follow the loop's index", at);
        }
        const Type& type = body_.variable(access.base).type;
        const std::string name = body_.variable(access.base).name;
        if (type.isDependent || subscript.type.lanes != 1 || subscript.type.isVolatile ||
            type.isVolatile || vectorType(subscript.type.scalar, 2).empty())
            return refuse(
                "no-unit-stride-access",
                fmt::format("{} on line {} has no vector type for its elements", name, at));
        const bool isReadFromMemory = !std::ranges::all_of(rest->parts, [&](ExprId part) {
            return isFixedOutside(code_, loop_, part, walk_.form.advance);
        });
        const Expr& pointer = body_.expr(subscript.children[0]);
        rest->parts.push_back(subscript.children[0]);
        const std::string address = std::string(source_.slice(pointer.span)) +
                                    (rest->text.empty()            ? ""
                                     : rest->text.starts_with("-") ? " - " + rest->text.substr(1)
                                                                   : " + " + rest->text);
        auto found = std::ranges::find_if(walk_.elements, [&](const WalkedElements& elements) {
            return elements.array == access.base && elements.address == address;
        });
        if (found == walk_.elements.end()) {
            walk_.elements.push_back({.array = access.base,
                                      .name = std::string(source_.slice(pointer.span)),
                                      .address = address,
                                      .type = {},
                                      .vector = {},
                                      .reached = rest->parts,
                                      .isReadFromMemory = isReadFromMemory});
            found = walk_.elements.end() - 1;
            scalars_.push_back(subscript.type.scalar);
        }
        ExprId replaced = access.expression;
        if (const ExprId load = readOnlyLoadAround(code_, replaced); load != noId)
            replaced = load;
        found->isRead = found->isRead || access.kind != AccessKind::Write;
        if (access.kind != AccessKind::Read) {
            if (!isUnconditional(code_, walk_.work, replaced))
                return refuse("conditional-store",
                              fmt::format("{} is stored under a condition on line {}", name, at));
            found->isWritten = true;
            found->lastWrite = std::max(found->lastWrite, body_.expr(replaced).span.begin);
        }
        walk_.accesses.push_back(
            {replaced, static_cast<std::size_t>(found - walk_.elements.begin())});
        return std::string{};
    }

    /// Whether the expression is the name of a pointer or array that the loop does not change.
    [[nodiscard]] bool isOwnPointer(ExprId pointer) const {
        const Expr& expr = body_.expr(pointer);
        return expr.kind == ExprKind::Variable && expr.variable != noId && !expr.fromMacro &&
               !body_.variable(expr.variable).type.isReference &&
               body_.variable(expr.variable).type.arrayExtents.size() < 2 &&
               isFixedOutside(code_, loop_, pointer, walk_.form.advance);
    }

    /// Whether the expression names the index outside of the accesses at that index.
    [[nodiscard]] bool namesIndex(ExprId expr) const {
        return std::ranges::any_of(code_.uses(walk_.form.index), [&](ExprId use) {
            if (!body_.expr(expr).span.contains(body_.expr(use).span))
                return false;
            for (ExprId at = code_.parent(use); at != noId && at != expr; at = code_.parent(at))
                if (body_.expr(at).kind == ExprKind::Subscript)
                    return false;
            return true;
        });
    }

    /// The widest access of all is at most 16 bytes.
    Gated<void> chooseTypes() {
        std::uint32_t widest = 0;
        bool isPairOnly = false;
        for (const ScalarKind scalar : scalars_) {
            widest = std::max(widest, analysis::scalarBytes(scalar));
            isPairOnly = isPairOnly || vectorType(scalar, 4).empty();
        }
        walk_.group = isPairOnly || widest > 4 ? 2 : 4;
        std::vector<std::string> taken;
        for (std::size_t i = 0; i < walk_.elements.size(); ++i) {
            WalkedElements& elements = walk_.elements[i];
            elements.type = vectorType(scalars_[i], walk_.group);
            elements.bytes =
                analysis::scalarBytes(scalars_[i]) * static_cast<std::uint32_t>(walk_.group);
            std::string name = fmt::format("{}{}", elements.name, walk_.group);
            while (std::ranges::find(taken, freshName(body_, name)) != taken.end())
                name += "b";
            elements.vector = freshName(body_, name);
            taken.push_back(elements.vector);
        }
        return {};
    }

    /// Each stored array is accessed at one index alone.
    [[nodiscard]] Gated<void> requireStoredOnce() const {
        for (std::size_t i = 0; i < walk_.elements.size(); ++i) {
            if (!walk_.elements[i].isWritten)
                continue;
            for (std::size_t k = 0; k < walk_.elements.size(); ++k)
                if (k != i && walk_.elements[k].array == walk_.elements[i].array)
                    return refuse("columns-overlap",
                                  fmt::format("the loop on line {} uses {} at two places and "
                                              "stores to it",
                                              line(), walk_.elements[i].name));
            for (const MemoryAccess& access : context_.kernel.accesses)
                if (access.base == walk_.elements[i].array &&
                    code_.holds(loop_.body, access.expression) &&
                    std::ranges::none_of(walk_.accesses, [&](const WalkedAccess& walked) {
                        return body_.expr(walked.replaced)
                            .span.contains(body_.expr(access.expression).span);
                    }))
                    return refuse("columns-overlap",
                                  fmt::format("line {} uses what the loop stores",
                                              lineOfExpr(access.expression)));
        }
        return {};
    }

    /// Splits the first index into the thread's number and a part that is the same for all threads.
    Gated<void> splitStart() {
        const IndexExpression rest = *nestLoop().first - IndexExpression::symbol(thread_);
        const ExprId start = walk_.form.counted.start;
        const std::string index = body_.variable(walk_.form.index).name;
        const auto constant = rest.asConstant();
        if (constant && *constant == 0) {
            walk_.thread = start == noId ? index : besideComparison(source_, body_.expr(start));
            return {};
        }
        const auto no = [&](std::string_view why) {
            return refuse("first-element",
                          fmt::format("the loop on line {} begins {}", line(), why));
        };
        if (start == noId || body_.expr(start).fromMacro)
            return no("where its index was set before");
        const auto isConstant = [&](ExprId id) {
            const Expr& expr = body_.expr(id);
            return expr.kind == ExprKind::Integer && constant && expr.integer == *constant;
        };
        if (constant && *constant % walk_.group != 0) {
            const auto thread = withoutAddend(code_, source_, start, isConstant);
            if (*constant != 1 || !thread || thread->text.empty() ||
                !foldsFirstAgain(context_, walk_))
                return no(fmt::format("at element {}, where no vector begins", *constant));
            walk_.takesFirstAgain = true;
            walk_.thread = thread->text;
            return {};
        }
        // The addend that differs between threads is the thread's number.
        ExprId own = noId;
        const ThreadValues values(context_.file, context_.kernel, code_, walk_.sharers);
        const auto first = withoutAddend(code_, source_, start, [&](ExprId id) {
            const Expr& expr = body_.expr(id);
            const bool isSum = expr.kind == ExprKind::Binary && (expr.op == "+" || expr.op == "-");
            if (isSum || !values.differ(id))
                return false;
            own = own == noId ? id : own;
            return own == id;
        });
        if (!first || first->text.empty() || own == noId ||
            !std::ranges::all_of(first->parts, [&](ExprId part) {
                return !values.differ(part) &&
                       isFixedOutside(code_, loop_, part, walk_.form.advance);
            }))
            return no("where the text does not tell apart what all threads have in common");
        if (!nest_.symbols.isLaunchConstant(rest) &&
            nest_.symbols.contains(rest, NestSymbolKind::Value))
            return no("at an index that is read from memory, where vectors seldom begin");
        walk_.first = first->text;
        walk_.thread = besideComparison(source_, body_.expr(own));
        return {};
    }

    /// An address that is read from memory is read where the loop has a round for the thread, which
    /// the text says of loops that begin at the thread's number.
    [[nodiscard]] Gated<void> requireKnownAddresses() const {
        if (walk_.first.empty() && !walk_.takesFirstAgain)
            return {};
        for (const WalkedElements& elements : walk_.elements)
            if (elements.isReadFromMemory)
                return refuse("first-element",
                              fmt::format("the loop on line {} begins at no thread's number, and "
                                          "where {} begins is read from memory",
                                          line(), elements.name));
        return {};
    }

    [[nodiscard]] Gated<void> requireLongEnough() const {
        const auto limit = code_.constantValue(walk_.form.counted.limit);
        std::optional<std::int64_t> threads;
        if (walk_.sharers.kind == LoopSharers::Kind::Lanes)
            threads = walk_.sharers.lanes;
        else if (walk_.sharers.kind == LoopSharers::Kind::Block)
            threads = nest_.extents.block[0];
        if (limit && threads && walk_.first.empty() && *limit < minElementsOfThread * *threads)
            return refuse("short-rows",
                          fmt::format("with the {} elements of the loop on line {}, vectors leave "
                                      "most of the {} threads without work",
                                      *limit, line(), *threads));
        return {};
    }

    /// Threads exchange rounds: whatever a round uses beside its elements is the same in all.
    [[nodiscard]] Gated<void> requireSameForAll(const ThreadValues& values) const {
        const auto no = [&](ExprId id) {
            return refuse("depends-on-thread",
                          fmt::format("{} on line {} may not be the same in all threads",
                                      source_.slice(body_.expr(id).span), lineOfExpr(id)));
        };
        for (const ExprId id : {walk_.form.counted.limit, walk_.form.counted.step})
            if (id != noId && values.differ(id))
                return no(id);
        for (const WalkedElements& elements : walk_.elements)
            for (const ExprId part : elements.reached)
                if (values.differ(part))
                    return no(part);
        for (const StmtId top : walk_.work)
            for (const ExprId id : code_.expressionsIn(top)) {
                const Expr& expr = body_.expr(id);
                const bool isName = expr.kind == ExprKind::Variable && expr.variable != noId;
                if ((!isName && expr.kind != ExprKind::BuiltinIndex) ||
                    (isName && isOfRound(expr.variable)))
                    continue;
                if (values.differ(id))
                    return no(id);
            }
        return {};
    }

    /// Whether the variable is the index, a local of the round, or one that rounds fold into.
    [[nodiscard]] bool isOfRound(VariableId variable) const {
        if (variable == walk_.form.index || isFolded(context_, walk_, variable))
            return true;
        const StmtId declaration = code_.declarationOf(variable);
        return declaration != noId && code_.encloses(loop_.body, declaration);
    }
    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const SourceText& source_;
    const Nest& nest_;
    const Loop& loop_;
    std::uint32_t index_;
    Symbol thread_;
    std::vector<ScalarKind> scalars_; ///< The element types of walk_.elements.
    SharedWalk walk_;
};

} // namespace

Gated<SharedWalk> readWalk(const SkillContext& context, std::uint32_t index) {
    return WalkReader(context, index).read();
}

} // namespace kernelskill::skills
