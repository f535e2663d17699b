#include "skills/schedule/stored_values.h"

#include "analysis/queries/source_layout.h"
#include "analysis/queries/value_spelling.h"
#include "skills/gates/block_collective.h"
#include "skills/schedule/draft.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class StoreFinder {
public:
    StoreFinder(const SkillContext& context, const ArrayLoop& loop)
        : context_(context), code_(context.code()), body_(code_.body()), loop_(loop),
          layout_(*context.file.source, context.kernel) {}

    std::optional<StoredValues> find() const {
        const StmtId block = body_.stmt(loop_.loop).parent;
        if (block == noId || body_.stmt(block).kind != StmtKind::Compound)
            return std::nullopt;
        const std::vector<StmtId> siblings = code_.statementsOf(block);
        std::size_t at =
            static_cast<std::size_t>(std::ranges::find(siblings, loop_.loop) - siblings.begin());
        StoredValues found{.values = std::vector<StoredValue>(loop_.arrays.size()),
                           .barrier = noId};
        while (at > 0 && declaresOwn(siblings[at - 1]))
            --at;
        if (at > 0 && isBlockBarrier(context_.kernel, siblings[at - 1]))
            found.barrier = siblings[--at];
        if (found.barrier == noId ? !loop_.startsWithBarrier : !standsAlone(found.barrier))
            return std::nullopt;
        for (std::size_t i = 0; i < loop_.arrays.size(); ++i) {
            if (at == 0)
                return std::nullopt;
            const auto stored = storedArray(siblings[--at]);
            if (!stored || found.values[*stored].store != noId)
                return std::nullopt;
            found.values[*stored] = {siblings[at], localOf(siblings[at])};
        }
        return areUnreadBefore(siblings, at) ? std::optional(std::move(found)) : std::nullopt;
    }

private:
    [[nodiscard]] bool declaresOwn(StmtId id) const {
        const Stmt& stmt = body_.stmt(id);
        return stmt.kind == StmtKind::Declaration &&
               std::ranges::all_of(stmt.declared, [&](VariableId declared) {
                   return std::ranges::find(loop_.own, declared) != loop_.own.end();
               });
    }

    /// Whether the statement's lines hold nothing else, so that they can go.
    [[nodiscard]] bool standsAlone(StmtId id) const {
        const Span span = body_.stmt(id).span;
        const SourceText& source = *context_.file.source;
        const std::string_view behind = source.slice({span.end, layout_.lineAfter(span.end)});
        return !body_.stmt(id).fromMacro && hasOwnLines(body_, layout_, id, id) &&
               behind.find_first_not_of("; \t\r\n") == std::string_view::npos;
    }

    /// The index of the array to which the statement stores the thread's own element; nullopt for
    /// other statements, and where the value asks for one of the arrays.
    [[nodiscard]] std::optional<std::size_t> storedArray(StmtId id) const {
        const Stmt& stmt = body_.stmt(id);
        if (stmt.kind != StmtKind::Expression || stmt.fromMacro)
            return std::nullopt;
        const Expr& store = body_.expr(stmt.expr);
        if (store.kind != ExprKind::Binary || store.op != "=" || store.fromMacro)
            return std::nullopt;
        const Expr& element = body_.expr(store.children[0]);
        if (element.kind != ExprKind::Subscript ||
            context_.file.source->slice(body_.expr(element.children[1]).span) != loop_.thread)
            return std::nullopt;
        const VariableId array = code_.namedVariable(element.children[0]);
        const auto found = std::ranges::find(loop_.arrays, array);
        if (array == noId || found == loop_.arrays.end() || body_.variable(array).type.isVolatile)
            return std::nullopt;
        const bool asksForArray =
            std::ranges::any_of(code_.expressionsBelow(store.children[1]), [&](ExprId below) {
                const VariableId named = body_.expr(below).variable;
                return named != noId &&
                       std::ranges::find(loop_.arrays, named) != loop_.arrays.end();
            });
        return asksForArray ? std::nullopt
                            : std::optional(static_cast<std::size_t>(found - loop_.arrays.begin()));
    }

    /// Returns the local that the statement stores, if nothing uses it after that and it has the
    /// element's type; else noId.
    [[nodiscard]] VariableId localOf(StmtId store) const {
        const Expr& assignment = body_.expr(body_.stmt(store).expr);
        const VariableId local = code_.namedVariable(assignment.children[1]);
        const StmtId declaration = local == noId ? noId : code_.declarationOf(local);
        if (declaration == noId || !standsAlone(store) ||
            body_.stmt(declaration).parent != body_.stmt(store).parent)
            return noId;
        const Type& type = body_.variable(local).type;
        const Type& element = body_.expr(assignment.children[0]).type;
        if (type.isConst || type.isReference || type.pointerDepth > 0 ||
            type.canonical != element.canonical)
            return noId;
        const bool isLast = std::ranges::all_of(code_.uses(local), [&](ExprId use) {
            return body_.expr(use).span.begin < body_.stmt(store).span.end;
        });
        return isLast ? local : noId;
    }

    /// Whether a barrier separates the statement at `first` from all earlier uses of the arrays, or
    /// there are no earlier uses.
    [[nodiscard]] bool areUnreadBefore(const std::vector<StmtId>& siblings,
                                       std::size_t first) const {
        for (std::size_t at = first; at > 0; --at) {
            if (isBlockBarrier(context_.kernel, siblings[at - 1]))
                return true;
            for (const VariableId array : loop_.arrays)
                for (const ExprId use : code_.uses(array))
                    if (code_.holds(siblings[at - 1], use))
                        return false;
        }
        return body_.stmt(siblings.front()).parent == body_.root;
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const ArrayLoop& loop_;
    SourceLayout layout_;
};

} // namespace

std::optional<StoredValues> storedValues(const SkillContext& context, const ArrayLoop& loop) {
    return StoreFinder(context, loop).find();
}

std::vector<TextEdit> keptInRegisters(const SkillContext& context, const StoredValues& stored,
                                      const std::vector<std::string>& names) {
    const CodeMap& code = context.code();
    const FunctionBody& body = code.body();
    const SourceLayout layout(*context.file.source, context.kernel);
    const auto withoutLine = [&](StmtId statement) {
        return TextEdit{layout.statementWithLine(body.stmt(statement).span), ""};
    };
    std::vector<TextEdit> edits;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto& [statement, local] = stored.values[i];
        if (local != noId) {
            edits.push_back(withoutLine(statement));
            continue;
        }
        const Expr& store = body.expr(body.stmt(statement).expr);
        const VariableId array = code.namedVariable(body.expr(store.children[0]).children[0]);
        edits.push_back(
            {{body.stmt(statement).span.begin, body.expr(store.children[1]).span.begin},
             fmt::format("{} {} = ", elementSpelling(body.variable(array).type), names[i])});
    }
    if (stored.barrier != noId)
        edits.push_back(withoutLine(stored.barrier));
    return edits;
}

} // namespace kernelskill::skills
