#include "skills/segmented-reduction/keyed_atomic.h"

#include "analysis/nest/nest.h"
#include "analysis/queries/source_layout.h"
#include "analysis/queries/value_spelling.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/editing/replaced_statement.h"
#include "skills/schedule/lane_fold.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The atomics, and the functors of cooperative_groups that combine values as they do.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> operations{
    {{"atomicAdd", "plus"},
     {"atomicMin", "less"},
     {"atomicMax", "greater"},
     {"atomicAnd", "bit_and"},
     {"atomicOr", "bit_or"},
     {"atomicXor", "bit_xor"}}};

class AtomicReader {
public:
    explicit AtomicReader(const SkillContext& context)
        : context_(context), code_(context.code()), body_(code_.body()),
          nest_(context.shared().nest()) {}

    Gated<KeyedAtomic> read(ExprId id) const {
        const Expr& call = body_.expr(id);
        const std::uint32_t line = lineNumber(context_, call.span.begin);
        const auto operation =
            std::ranges::find(operations, std::string_view(call.name),
                              &std::pair<std::string_view, std::string_view>::first);
        if (operation == operations.end() || call.children.size() != 2)
            return refuse("no-operation", fmt::format("{} on line {} is not an operation by which "
                                                      "lanes can combine their values",
                                                      call.name, line));
        const StmtId statement = code_.statement(id);
        const Stmt& stmt = body_.stmt(statement);
        if (stmt.kind != StmtKind::Expression || stmt.expr != id)
            return refuse("result-used", fmt::format("line {} uses what {} returns, which is each "
                                                     "thread's own",
                                                     line, call.name));
        if (stmt.fromMacro || call.fromMacro || body_.expr(call.children[0]).fromMacro ||
            body_.expr(call.children[1]).fromMacro || !hasOwnPlace(context_, statement))
            return refuse(
                "from-macro",
                fmt::format("line {} holds more than the update, or comes out of a macro", line));
        if (isElected(statement))
            return refuse("already-combined",
                          fmt::format("lanes combine their updates before line {} already", line));
        KeyedAtomic found;
        found.statement = statement;
        found.address = call.children[0];
        found.value = call.children[1];
        found.function = call.name;
        found.operation = operation->second;
        KERNELSKILL_CHECK(readTarget(found, line));
        KERNELSKILL_CHECK(requireKeyOfData(found, line));
        return found;
    }

private:
    /// Whether lanes are elected for the update already, or tell their keys apart.
    [[nodiscard]] bool isElected(StmtId statement) const {
        for (StmtId at = statement; at != noId; at = body_.stmt(at).parent) {
            if (body_.stmt(at).kind != StmtKind::If)
                continue;
            const auto below = code_.expressionsBelow(body_.stmt(at).condition);
            if (std::ranges::any_of(below, [&](ExprId id) {
                    return body_.expr(id).kind == ExprKind::Call &&
                           body_.expr(id).name.ends_with("thread_rank");
                }))
                return true;
        }
        return std::ranges::any_of(context_.kernel.warpOperations, [](const WarpOperation& each) {
            return each.kind == WarpOperationKind::Match;
        });
    }

    Gated<void> readTarget(KeyedAtomic& found, std::uint32_t line) const {
        const Expr& address = body_.expr(code_.withoutCasts(found.address));
        ExprId base = noId;
        const bool isElement = address.kind == ExprKind::Unary && address.op == "&" &&
                               body_.expr(address.children[0]).kind == ExprKind::Subscript;
        if (isElement) {
            const Expr& element = body_.expr(address.children[0]);
            base = element.children[0];
            found.index = element.children[1];
        } else if (address.kind == ExprKind::Binary && address.op == "+") {
            base = address.children[0];
            found.index = address.children[1];
        }
        const VariableId variable = base != noId && body_.expr(base).kind == ExprKind::Variable
                                        ? body_.expr(base).variable
                                        : noId;
        const auto isInteger = [](const Type& type) {
            return type.pointerDepth == 0 && type.scalar >= ScalarKind::Char &&
                   type.scalar <= ScalarKind::UInt64;
        };
        if (variable == noId || !isInteger(body_.expr(found.index).type) ||
            code_.withoutCasts(found.address) != found.address)
            return refuse("no-key",
                          fmt::format("the target on line {} is not an element that an index "
                                      "chooses from an array",
                                      line));
        const Variable& array = body_.variable(variable);
        const bool isPointer = array.storage == Storage::Parameter && array.type.pointerDepth == 1;
        const bool isGlobal =
            array.storage == Storage::DeviceGlobal && array.type.arrayExtents.size() == 1;
        if (array.storage == Storage::Shared || array.storage == Storage::DynamicShared)
            return refuse("not-global", fmt::format("{} on line {} is in shared memory, whose "
                                                    "atomics are fast",
                                                    array.name, line));
        if ((!isPointer && !isGlobal) || code_.isEverWritten(variable))
            return refuse("own-base", fmt::format("lanes may each have a {} of their own on line "
                                                  "{}",
                                                  array.name, line));
        found.array = array.name;
        found.scalar = array.type.scalar;
        if (!isFoldable(found.scalar) || array.type.lanes != 1 || array.type.isDependent)
            return refuse("no-operation",
                          fmt::format("lanes cannot combine elements of {}", array.name));
        const std::string& spelling = array.type.canonical;
        found.type =
            isGlobal ? elementSpelling(array.type) : spelling.substr(0, spelling.find('*'));
        while (found.type.ends_with(' '))
            found.type.pop_back();
        return {};
    }

    /// Requires that data choose the element, and that several lanes come to the update.
    [[nodiscard]] Gated<void> requireKeyOfData(const KeyedAtomic& found, std::uint32_t line) const {
        const NestAccess* access = nullptr;
        for (const NestAccess& each : nest_.accesses)
            if (each.kind == AccessKind::Atomic && each.frame == 0 &&
                nest_.node(each.node).statement == found.statement)
                access = &each;
        const bool isOfData =
            access != nullptr &&
            (access->form == NestAccessForm::Indirect ||
             (access->index && nest_.symbols.contains(*access->index, NestSymbolKind::Value)));
        if (!isOfData)
            return refuse("known-target", fmt::format("no data choose the element of {} that line "
                                                      "{} updates",
                                                      found.array, line));
        for (const NestNodeId id : around(nest_, access->node)) {
            const NestGuard* guard = nest_.node(id).guard();
            if (guard != nullptr && fixesThread(guard->condition))
                return refuse("one-thread-updates",
                              fmt::format("one thread alone comes to line {}", line));
        }
        return {};
    }
    /// Whether the condition holds for one thread of a block or of the grid.
    [[nodiscard]] bool fixesThread(const NestCondition& condition) const {
        if (condition.kind == NestCondition::Kind::All)
            return std::ranges::any_of(
                condition.parts, [&](const NestCondition& part) { return fixesThread(part); });
        if (condition.kind != NestCondition::Kind::Zero)
            return false;
        return std::ranges::any_of(condition.expression.terms(), [&](const auto& term) {
            return std::ranges::any_of(term.first, [&](Symbol symbol) {
                const NestSymbol* named = nest_.symbols.find(symbol);
                return symbol.kind == SymbolKind::ThreadIdx ||
                       (named != nullptr && named->kind == NestSymbolKind::Position);
            });
        });
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const Nest& nest_;
};

} // namespace

Gated<KeyedAtomic> keyedAtomic(const SkillContext& context) {
    KERNELSKILL_CHECK(requireEditable(context));
    std::optional<Refusal> refusal;
    std::optional<KeyedAtomic> first;
    const AtomicReader reader(context);
    for (const Atomic& atomic : context.kernel.atomics) {
        auto found = reader.read(atomic.call);
        if (!found) {
            if (!refusal)
                refusal = std::move(found.error());
            continue;
        }
        const bool isAtCursor =
            context.cursor().touches(context.kernel.body.stmt(found->statement).span);
        if (!first || isAtCursor)
            first = *std::move(found);
        if (isAtCursor)
            break;
    }
    if (first)
        return *std::move(first);
    return std::unexpected(refusal.value_or(
        Refusal{"no-atomic", fmt::format("{} has no atomics", context.kernel.name)}));
}

std::vector<TextEdit> aggregate(const SkillContext& context, const KeyedAtomic& atomic) {
    const FunctionBody& body = context.kernel.body;
    const SourceText& source = *context.file.source;
    const SourceLayout layout(source, context.kernel);
    const auto text = [&](ExprId id) { return std::string(source.slice(body.expr(id).span)); };
    const std::string alike = freshName(body, "alike");
    const std::string folded = freshName(body, atomic.operation == "plus" ? "sum" : "combined");
    const Expr& index = body.expr(atomic.index);
    const std::string groups = "cooperative_groups::";
    std::vector<std::string> lines;
    std::string key = text(atomic.index);
    std::string address = text(atomic.address);
    if (index.kind != ExprKind::Variable) {
        const std::string name = freshName(body, "target");
        lines.push_back(fmt::format("const {} {} = {};", valueSpelling(index.type), name, key));
        address =
            std::string(source.slice({body.expr(atomic.address).span.begin, index.span.begin})) +
            name + std::string(source.slice({index.span.end, body.expr(atomic.address).span.end}));
        key = name;
    }
    lines.push_back(fmt::format("const auto {} =", alike));
    lines.push_back(layout.unit() +
                    fmt::format("{0}labeled_partition({0}coalesced_threads(), {1});", groups, key));
    lines.push_back(fmt::format("{} {} = {};", atomic.type, folded, text(atomic.value)));
    lines.push_back(fmt::format("{0} = {1}reduce({2}, {0}, {1}{3}<{4}>());", folded, groups, alike,
                                atomic.operation, atomic.type));
    lines.push_back(fmt::format("if ({}.thread_rank() == 0)", alike));
    lines.push_back(layout.unit() + fmt::format("{}({}, {});", atomic.function, address, folded));

    return inPlaceOf(context, atomic.statement, lines);
}

} // namespace kernelskill::skills
