#include "skills/schedule/part_locals.h"

#include "analysis/model/dependence.h"
#include "analysis/source/try.h"
#include "analysis/syntax/lexer.h"
#include "skills/base/gates.h"
#include "skills/gates/counted_loop.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class LocalsPlanner {
public:
    LocalsPlanner(const SkillContext& context, const StatementRoles& roles)
        : context_(context), code_(context.code()), body_(code_.body()), roles_(roles) {
        found_.runs.resize(roles.runs().size());
    }

    Gated<PartLocals> plan() {
        for (VariableId id = 0; id < body_.variables.size(); ++id)
            if (roles_.differs(id) || isOfOldBlock(id))
                KERNELSKILL_CHECK(placeDiffering(id));
        moveDeclarations();
        for (const VariableId id : found_.kept)
            KERNELSKILL_CHECK(requireKeepable(id));
        const auto inOrder = [&](std::vector<StmtId>& statements) {
            std::ranges::sort(statements, {}, [&](StmtId id) { return body_.stmt(id).span; });
        };
        for (RunLocals& run : found_.runs) {
            inOrder(run.ahead);
            inOrder(run.again);
            inOrder(run.split);
        }
        return std::move(found_);
    }

private:
    /// Whether warps of the old block have the variable in common, and other old blocks do not.
    [[nodiscard]] bool isOfOldBlock(VariableId id) const {
        return roles_.origin().kind == PartKind::Warps && isSharedStorage(body_.variable(id));
    }

    [[nodiscard]] std::set<std::size_t> runsThatUse(VariableId id) const {
        std::set<std::size_t> runs;
        for (const ExprId use : code_.uses(id))
            if (const auto run = roles_.runOf(code_.statement(use)))
                runs.insert(*run);
        return runs;
    }

    Gated<void> placeDiffering(VariableId id) {
        const Variable& variable = body_.variable(id);
        const std::set<std::size_t> users = runsThatUse(id);
        if (roles_.origin().kind == PartKind::Rounds && isOutside(id))
            return users.empty() ? Gated<void>{} : placeOutside(id, users);
        if (isSharedStorage(variable)) {
            found_.kept.push_back(id);
            return {};
        }
        if (users.empty())
            return {};
        if (variable.storage == Storage::Parameter)
            return refuse(
                "changed-parameter",
                fmt::format("the parameter {} would differ between parts", variable.name));
        if (variable.storage != Storage::Local)
            return {};
        const StmtId declaration = code_.declarationOf(id);
        if (declaration == noId)
            return refuse("hidden-use",
                          fmt::format("where {} is declared is not known", variable.name));
        const auto home = roles_.runOf(declaration);
        if (home && users == std::set{*home})
            return {};
        if (variable.init == noId && users.size() == 1 && isBeside(declaration, *users.begin()))
            return {};
        if (home && isRepeatable(declaration)) {
            for (const std::size_t user : users)
                repeat(declaration, user);
            return {};
        }
        found_.kept.push_back(id);
        if (home && variable.init != noId)
            found_.runs[*home].split.push_back(declaration);
        return {};
    }

    /// Whether the variable outlives a round.
    [[nodiscard]] bool isOutside(VariableId id) const {
        const StmtId declaration = code_.declarationOf(id);
        return declaration == noId || !code_.encloses(roles_.origin().root, declaration);
    }

    /// In a single run of the rounds' own block, parts take their turns as the rounds did. Else
    /// each round has to set the variable anew, which then is an array of the block.
    Gated<void> placeOutside(VariableId id, const std::set<std::size_t>& users) {
        const StmtId root = roles_.origin().root;
        const auto blockOf = [&](std::size_t run) {
            return body_.stmt(roles_.runs()[run].statements.front().statement).parent;
        };
        if (id == roles_.origin().index ||
            (users.size() == 1 &&
             (blockOf(*users.begin()) == root ||
              roles_.runs()[*users.begin()].statements.front().statement == root)))
            return {};
        const Variable& variable = body_.variable(id);
        if (body_.stmt(root).kind != StmtKind::Compound || variable.storage != Storage::Local ||
            !isSetFirst(id) || isAskedForLater(code_, body_.stmt(root).parent, id, true))
            return refuse("carries-over", fmt::format("a round leaves a value in {}, which the "
                                                      "next one or code behind the loop reads",
                                                      variable.name));
        if (!variable.type.arrayExtents.empty() || variable.type.isReference)
            return refuseForm(variable);
        found_.kept.push_back(id);
        found_.own.push_back(id);
        return {};
    }

    /// Whether a round assigns the variable, in a statement that always runs, before it reads it.
    [[nodiscard]] bool isSetFirst(VariableId id) const {
        const StmtId root = roles_.origin().root;
        const auto first = std::ranges::find_if(code_.uses(id),
                                                [&](ExprId use) { return code_.holds(root, use); });
        if (first == code_.uses(id).end())
            return false;
        return setsAnew(code_, *first) && body_.stmt(code_.statement(*first)).parent == root &&
               body_.stmt(code_.statement(*first)).kind == StmtKind::Expression;
    }

    /// Whether the declaration stands in the block of code of the run, so that no loop lies between
    /// them which would carry a value from round to round.
    [[nodiscard]] bool isBeside(StmtId declaration, std::size_t run) const {
        return body_.stmt(declaration).parent ==
               body_.stmt(roles_.runs()[run].statements.front().statement).parent;
    }

    /// Whether working the declared variables out again at another place gives the same: they are
    /// numbers or addresses made of positions and of what never changes, without memory.
    [[nodiscard]] bool isRepeatable(StmtId declaration) {
        const auto known = repeatable_.find(declaration);
        if (known != repeatable_.end())
            return known->second;
        repeatable_[declaration] = false; // A variable that its own value names is not followed.
        const std::vector<VariableId>& declared = body_.stmt(declaration).declared;
        const bool isPure = std::ranges::all_of(declared, [&](VariableId id) {
            const Variable& variable = body_.variable(id);
            const bool isNumber =
                variable.type.scalar != ScalarKind::Unknown || variable.type.pointerDepth > 0;
            return variable.init != noId && isNumber && !variable.type.isReference &&
                   variable.type.arrayExtents.empty() && !code_.isEverWritten(id) &&
                   isPureValue(variable.init);
        });
        return repeatable_[declaration] = isPure;
    }

    [[nodiscard]] bool isPureValue(ExprId value) {
        return std::ranges::all_of(code_.expressionsBelow(value), [&](ExprId id) {
            const Expr& expr = body_.expr(id);
            switch (expr.kind) {
            case ExprKind::Integer:
            case ExprKind::Floating:
            case ExprKind::BuiltinIndex:
            case ExprKind::Cast:
            case ExprKind::Conditional:
                return true;
            case ExprKind::Binary:
                return !isAssignment(expr);
            case ExprKind::Unary:
                return !isIncrement(expr) && expr.op != "*" && expr.op != "&";
            case ExprKind::Call:
                return expr.name == "min" || expr.name == "max";
            case ExprKind::Variable:
                return expr.variable == noId || isPureVariable(expr.variable);
            default:
                return false;
            }
        });
    }

    [[nodiscard]] bool isPureVariable(VariableId id) {
        const Variable& variable = body_.variable(id);
        if (variable.storage != Storage::Local)
            return !isSharedStorage(variable) && variable.storage != Storage::DeviceGlobal &&
                   !code_.isEverWritten(id);
        if (id == roles_.origin().index)
            return true;
        return roles_.differs(id) ? isRepeatable(code_.declarationOf(id))
                                  : !code_.isEverWritten(id);
    }

    /// Repeats the declaration in the run, with those of other runs that it needs.
    void repeat(StmtId declaration, std::size_t run) {
        std::vector<StmtId>& again = found_.runs[run].again;
        if (roles_.runOf(declaration) == run ||
            std::ranges::find(again, declaration) != again.end())
            return;
        again.push_back(declaration);
        for (const VariableId declared : body_.stmt(declaration).declared)
            for (const ExprId id : code_.expressionsBelow(body_.variable(declared).init)) {
                const VariableId named = body_.expr(id).variable;
                if (body_.expr(id).kind != ExprKind::Variable || named == noId ||
                    named == roles_.origin().index)
                    continue;
                if (roles_.differs(named))
                    repeat(code_.declarationOf(named), run);
                else
                    usedElsewhere_.insert(named);
            }
    }

    /// Moves declarations ahead of their run whose variables are used beyond it.
    void moveDeclarations() {
        for (std::size_t run = 0; run < roles_.runs().size(); ++run)
            for (const auto& [id, role] : roles_.runs()[run].statements)
                if (role == StatementRole::BareDeclaration &&
                    std::ranges::any_of(body_.stmt(id).declared, [&](VariableId declared) {
                        return std::ranges::find(found_.kept, declared) != found_.kept.end();
                    }))
                    moveAhead(id, run);
        for (bool grows = true; grows;) {
            grows = false;
            for (std::size_t run = 0; run < roles_.runs().size(); ++run)
                for (const auto& [id, role] : roles_.runs()[run].statements)
                    if ((role == StatementRole::OnceDeclaration ||
                         role == StatementRole::BareDeclaration) &&
                        isUsedBeyond(id, run))
                        grows = moveAhead(id, run) || grows;
        }
    }

    bool moveAhead(StmtId declaration, std::size_t run) {
        std::vector<StmtId>& ahead = found_.runs[run].ahead;
        if (std::ranges::find(ahead, declaration) != ahead.end())
            return false;
        ahead.push_back(declaration);
        return true;
    }

    [[nodiscard]] bool isUsedBeyond(StmtId declaration, std::size_t run) const {
        const std::vector<StmtId>& ahead = found_.runs[run].ahead;
        return std::ranges::any_of(body_.stmt(declaration).declared, [&](VariableId id) {
            return usedElsewhere_.contains(id) ||
                   std::ranges::any_of(code_.uses(id), [&](ExprId use) {
                       const StmtId user = code_.statement(use);
                       return roles_.runOf(user) != run ||
                              std::ranges::any_of(ahead, [&](StmtId moved) {
                                  return moved != declaration && code_.encloses(moved, user);
                              });
                   });
        });
    }

    Gated<void> requireKeepable(VariableId id) const {
        const Variable& variable = body_.variable(id);
        const SourceText& source = *context_.file.source;
        if (variable.storage == Storage::DynamicShared)
            return refuse("dynamic-shared-memory",
                          fmt::format("{} has the size that the launch gives it", variable.name));
        if (variable.fromMacro)
            return refuse("from-macro", fmt::format("{} is declared in a macro", variable.name));
        if (variable.type.isReference || !source.slice(variable.span).starts_with(variable.name))
            return refuseForm(variable);
        if (variable.init != noId && std::ranges::find(found_.own, id) == found_.own.end()) {
            const std::uint32_t end =
                variable.span.begin + static_cast<std::uint32_t>(variable.name.size());
            const std::vector<Token> between =
                lex(source.text(), {end, body_.expr(variable.init).span.begin});
            const StmtId declaration = code_.declarationOf(id);
            if (!roles_.runOf(declaration) || body_.stmt(declaration).declared.size() != 1 ||
                !variable.type.arrayExtents.empty() || between.size() != 1 ||
                !between.front().is("="))
                return refuseForm(variable);
        }
        std::size_t named = 0;
        for (const ExprId use : code_.uses(id)) {
            const Expr& expr = body_.expr(use);
            if (expr.fromMacro)
                return refuse("from-macro",
                              fmt::format("line {} uses {} in a macro",
                                          lineNumber(context_, expr.span.begin), variable.name));
            if (source.slice(expr.span) == variable.name)
                ++named;
        }
        // The declaration is the one occurrence that is no use. Other blocks may have a variable of
        // that name.
        const StmtId declaration = code_.declarationOf(id);
        const StmtId block = declaration == noId ? noId : body_.stmt(declaration).parent;
        const std::vector<Token> tokens =
            lex(source.text(), block == noId ? context_.kernel.bodySpan : body_.stmt(block).span);
        if (std::ranges::count(tokens, std::string_view(variable.name), &Token::text) !=
            static_cast<std::ptrdiff_t>(named + 1))
            return refuse("hidden-use",
                          fmt::format("{} is named where no use of it is known", variable.name));
        return {};
    }

    [[nodiscard]] static std::unexpected<Refusal> refuseForm(const Variable& variable) {
        return refuse("declaration-form",
                      fmt::format("the declaration of {} cannot be given an element for each part",
                                  variable.name));
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const StatementRoles& roles_;
    std::map<StmtId, bool> repeatable_;  ///< As far as declarations were asked for.
    std::set<VariableId> usedElsewhere_; ///< By declarations that are repeated.
    PartLocals found_;
};

} // namespace

Gated<PartLocals> partLocals(const SkillContext& context, const StatementRoles& roles) {
    return LocalsPlanner(context, roles).plan();
}

std::string keptType(const Variable& variable) {
    const Type& type = variable.type;
    std::string text = type.spelling.contains("auto") ? type.canonical : type.spelling;
    if (!type.isConst)
        return text;
    // A pointer that is const itself ends in the word; a number may begin with it.
    const auto at = type.pointerDepth > 0 ? text.rfind("const") : text.find("const");
    if (at == std::string::npos)
        return text;
    text.erase(at, std::string_view("const").size());
    const auto begin = text.find_first_not_of(' ');
    const auto end = text.find_last_not_of(' ');
    return text.substr(begin, end - begin + 1);
}

} // namespace kernelskill::skills
