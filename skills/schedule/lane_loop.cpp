#include "skills/schedule/lane_loop.h"

#include "analysis/queries/source_words.h"
#include "analysis/source/gpu_constants.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/round_values.h"
#include "skills/schedule/draft.h"
#include "skills/schedule/nest_queries.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace kernelskill::skills {

using namespace analysis;

namespace {

std::unexpected<Refusal> carries(std::uint32_t line, const std::string& name) {
    return refuse("carries-over",
                  fmt::format("line {} changes {}, which the next round sees", line, name));
}

/// Whether a template argument of that spelling may be a type that lanes can shuffle and fold: a
/// type of numbers, or a name that may stand for one, such as a template parameter of the host's
/// function. If the name stands for another type, the compiler refuses the edit.
bool mayBeNumber(std::string_view type) {
    constexpr std::array<std::string_view, 7> numbers{
        "float", "double", "int", "unsigned int", "long", "long long", "unsigned"};
    if (std::ranges::find(numbers, type) != numbers.end())
        return true;
    // Types of the language and of CUDA that lanes do not fold.
    constexpr std::array<std::string_view, 5> others{"bool", "char", "short", "half", "wchar_t"};
    const bool isName = !type.empty() && std::ranges::all_of(type, [](char c) {
        return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
    });
    // float4 and its kin end in the number of their components.
    return isName && !type.starts_with("__") &&
           std::isdigit(static_cast<unsigned char>(type.back())) == 0 &&
           std::ranges::find(others, type) == others.end();
}

} // namespace

LaneLoopReader::LaneLoopReader(const SkillContext& context, LoopScans scans, int minRounds)
    : context_(context), scans_(scans), minRounds_(minRounds), code_(context.code()),
      body_(code_.body()), nest_(context.shared().nest()),
      layout_(*context.file.source, context.kernel) {
    auto kept = keptElements(context, KeptElements::All);
    if (kept)
        candidates_ = *std::move(kept);
    else
        refusal_ = std::move(kept.error());
}

std::uint32_t LaneLoopReader::line(NestNodeId id) const {
    return lineNumber(context_, nest_.node(id).span.begin);
}

const KeptElement* keptWith(const std::vector<KeptElement>& elements, const NestAccess& access) {
    const auto found = std::ranges::find_if(elements, [&](const KeptElement& element) {
        return access.frame == 0 &&
               std::ranges::find(element.uses, access.expression) != element.uses.end();
    });
    return found == elements.end() ? nullptr : &*found;
}

bool isOfJoinedFold(const LaneLoop& loop, VariableId variable) {
    return std::ranges::any_of(loop.extremes,
                               [&](const ExtremeFold& fold) {
                                   return fold.best == variable || fold.place == variable;
                               }) ||
           std::ranges::any_of(loop.ranks,
                               [&](const RankedFold& fold) { return isPartOf(fold, variable); }) ||
           std::ranges::any_of(loop.welfords,
                               [&](const WelfordFold& fold) { return isPartOf(fold, variable); });
}

Gated<LaneLoop> LaneLoopReader::read(NestNodeId id) {
    const NestLoop& nestLoop = *nest_.node(id).loop();
    const StmtId statement = nest_.node(id).statement;
    const auto found = std::ranges::find(context_.kernel.loops, statement, &Loop::statement);
    const auto other = [&](std::string_view why) {
        return refuse("no-row-loop", fmt::format("the loop on line {} {}", line(id), why));
    };
    if (found == context_.kernel.loops.end() || nestLoop.style != NestLoopStyle::Serial ||
        found->inductionVariable == noId || found->step.value_or(0) < 1 ||
        (found->comparison != "<" && found->comparison != "<="))
        return other("does not count its columns upwards by a constant");
    const Stmt& stmt = body_.stmt(statement);
    if (found->hasEarlyExit)
        return other("may end early");
    if (stmt.init == noId || stmt.increment == noId || body_.expr(stmt.increment).fromMacro ||
        body_.expr(found->lowerBound).fromMacro ||
        !isWrittenAs(*context_.file.source, stmt.span, {"for"}) || stmt.parent == noId ||
        body_.stmt(stmt.parent).kind != StmtKind::Compound ||
        !hasOwnLines(body_, layout_, statement, statement))
        return other("is written in a way that an edit would not keep");
    if (found->tripCount && *found->tripCount < minRounds_)
        return refuse("short-rows", fmt::format("the {} rounds of the loop on line {} leave some "
                                                "of {} lanes without work",
                                                *found->tripCount, line(id), minRounds_));
    KERNELSKILL_CHECK(requireOwnIterator(*found));
    return readShared(id, static_cast<std::uint32_t>(found - context_.kernel.loops.begin()));
}

Gated<LaneLoop> LaneLoopReader::readShared(NestNodeId id, std::uint32_t index) {
    const Loop& found = context_.kernel.loops.at(index);
    const StmtId statement = found.statement;
    const VariableId counter =
        found.inductionVariable != noId ? found.inductionVariable : nest_.node(id).loop()->variable;
    LaneLoop loop{.node = id,
                  .statement = statement,
                  .loop = index,
                  .folds = {},
                  .extremes = extremeFolds(code_, statement, counter),
                  .ranks = rankedFolds(code_, statement, counter),
                  .welfords = {},
                  .scan = std::nullopt,
                  .syncsBefore = false,
                  .syncsAfter = false};
    KERNELSKILL_CHECK(readScan(id, loop));
    WelfordFolds welfords = loop.scan ? WelfordFolds{} : welfordFolds(context_, index);
    loop.welfords = std::move(welfords.folds);
    auto rounds = readRounds(id, loop, counter);
    if (!rounds && rounds.error().gate == "carries-over" && welfords.refusal)
        return std::unexpected(*std::move(welfords.refusal));
    KERNELSKILL_CHECK(std::move(rounds));
    return loop;
}

Gated<void> LaneLoopReader::readRounds(NestNodeId id, LaneLoop& loop, VariableId counter) {
    KERNELSKILL_CHECK(readEffects(id, loop));
    return readVariables(loop, counter);
}

Gated<void> LaneLoopReader::readScan(NestNodeId id, LaneLoop& loop) const {
    if (scans_ == LoopScans::Refused)
        return {};
    auto scan = laneScan(context_, id, loop.loop);
    if (scan)
        loop.scan = *std::move(scan);
    else if (scan.error().gate != "no-scan")
        return std::unexpected(std::move(scan.error()));
    return {};
}

/// Refuses if the counter is used outside of the loops that it counts: an edit changes the value
/// that it ends with.
Gated<void> LaneLoopReader::requireOwnIterator(const Loop& loop) const {
    if (code_.declarationOf(loop.inductionVariable) == body_.stmt(loop.statement).init)
        return {};
    for (const ExprId use : code_.uses(loop.inductionVariable)) {
        bool isCounted = false;
        for (const Loop& other : context_.kernel.loops)
            isCounted |= other.inductionVariable == loop.inductionVariable &&
                         other.lowerBound != noId && code_.holds(other.statement, use);
        if (!isCounted)
            return refuse("carries-over",
                          fmt::format("line {} uses {}, which counts the rounds of a loop",
                                      lineNumber(context_, body_.expr(use).span.begin),
                                      body_.variable(loop.inductionVariable).name));
    }
    return {};
}

/// Reads the folds, and requires that each round has the elements of its other stores to itself.
Gated<void> LaneLoopReader::readEffects(NestNodeId id, LaneLoop& loop) {
    for (NestAccessId at = 0; at < nest_.accesses.size(); ++at) {
        const NestAccess& access = nest_.accesses[at];
        if (access.kind == AccessKind::Read || !isInside(nest_, id, access.node))
            continue;
        const std::uint32_t accessLine = line(access.node);
        if (access.array == noId)
            return refuse("columns-overlap",
                          fmt::format("where line {} stores is not known", accessLine));
        if (loop.scan && loop.scan->array != noId && loop.scan->array == access.array)
            continue;
        if (isThreadsOwn(nest_, access)) {
            KERNELSKILL_CHECK(readOwn(id, access, loop));
            continue;
        }
        if (access.kind == AccessKind::Atomic) {
            if (!isStatementOfItsOwn(access))
                return refuse("columns-overlap",
                              fmt::format("the atomic on line {} may return what depends on the "
                                          "order of the columns",
                                          accessLine));
            continue;
        }
        const auto step = access.index
                              ? access.index->coefficientOf(nest_.node(id).loop()->iterator)
                              : std::nullopt;
        const auto apart = step ? step->asConstant() : std::nullopt;
        if (step && apart && *apart == 0) {
            KERNELSKILL_CHECK(addKeptFold(id, access, loop));
            continue;
        }
        KERNELSKILL_CHECK(apart ? requireApart(id, access, *apart) : requireOwnPlace(id, access));
    }
    return {};
}
/// Requires that no two rounds, which are `step` elements apart, touch one element of the array
/// that `store` goes to.
Gated<void> LaneLoopReader::requireApart(NestNodeId id, const NestAccess& store,
                                         std::int64_t step) const {
    for (const NestAccess& other : nest_.accesses) {
        if (other.array != store.array || !isInside(nest_, id, other.node))
            continue;
        const auto distance =
            other.index ? (*other.index - *store.index).asConstant() : std::nullopt;
        if (!distance || other.unit != store.unit || (*distance != 0 && *distance % step == 0))
            return refuse("columns-overlap",
                          fmt::format("lines {} and {} may touch one element from two columns",
                                      line(store.node), line(other.node)));
    }
    return {};
}

/// Requires that a subscript of the store tells the rounds apart, and that they use the array at
/// the stored place alone.
Gated<void> LaneLoopReader::requireOwnPlace(NestNodeId id, const NestAccess& store) const {
    const Symbol iterator = nest_.node(id).loop()->iterator;
    const bool hasOwn = std::ranges::any_of(store.subscripts, [&](const NestSubscript& subscript) {
        const auto step = subscript.index.coefficientOf(iterator);
        const auto apart = step ? step->asConstant() : std::nullopt;
        return apart && *apart != 0;
    });
    for (const NestAccess& other : nest_.accesses) {
        const bool isSame = other.subscripts == store.subscripts && other.unit == store.unit &&
                            other.index == store.index;
        if (other.array == store.array && isInside(nest_, id, other.node) &&
            (!hasOwn || !isSame || !store.assumptions.empty()))
            return refuse("columns-overlap",
                          fmt::format("it is not known that each column has a place of its own "
                                      "in the store on line {}",
                                      line(store.node)));
    }
    return {};
}

/// Requires that a variable from outside of the loop is one that rounds fold into.
Gated<void> LaneLoopReader::readOwn(NestNodeId id, const NestAccess& access, LaneLoop& loop) const {
    const NestArray& array = nest_.arrays[access.array];
    const StmtId declaration = array.frame == 0 ? code_.declarationOf(array.variable) : noId;
    if (loop.scan && loop.scan->variable != noId && array.frame == 0 &&
        loop.scan->variable == array.variable)
        return {};
    if (access.frame != 0 || array.frame != 0 ||
        (declaration != noId && code_.encloses(loop.statement, declaration)) ||
        isOfRounds(loop.statement, array.variable))
        return {};
    const Variable& variable = body_.variable(array.variable);
    if (variable.type.isReference || !access.field.empty() || !array.isVariable)
        return carries(line(access.node), array.name);
    if (!foldOperator(loop.statement, array.variable).empty())
        return {}; // readVariables() adds it.
    if (isOfJoinedFold(loop, array.variable))
        return canFold(array.scalar, variable.type.spelling)
                   ? Gated<void>{}
                   : carries(line(access.node), array.name);
    return addFold(id, access, variable.name, loop);
}

/// Reads what the text changes and the nest has no access for: integers that it follows as numbers,
/// and objects that it follows into their methods.
Gated<void> LaneLoopReader::readVariables(LaneLoop& loop, VariableId counter) const {
    for (VariableId id = 0; id < body_.variables.size(); ++id) {
        const Variable& variable = body_.variable(id);
        const StmtId declaration = code_.declarationOf(id);
        if ((declaration != noId && code_.encloses(loop.statement, declaration)) ||
            variable.type.pointerDepth > 0 || !variable.type.arrayExtents.empty() ||
            variable.storage == Storage::Shared)
            continue;
        const auto first = std::ranges::find_if(code_.uses(id), [&](ExprId use) {
            return code_.holds(loop.statement, use) && (code_.isWrite(use) || isObject(use));
        });
        const bool isKnown =
            first == code_.uses(id).end() || isIterator(id) || id == counter ||
            isOfRounds(loop.statement, id) || (loop.scan && loop.scan->variable == id) ||
            std::ranges::find(loop.folds, variable.name, &LaneFold::name) != loop.folds.end() ||
            isOfJoinedFold(loop, id);
        if (isKnown)
            continue;
        const std::string op = foldOperator(loop.statement, id);
        if (!isFoldOperator(op) || !canFold(variable.type.scalar, variable.type.spelling) ||
            variable.type.isReference)
            return carries(lineNumber(context_, body_.expr(*first).span.begin), variable.name);
        loop.folds.push_back(
            {.name = variable.name,
             .type = variable.type.spelling,
             .op = op,
             .scalar = variable.type.scalar,
             .startsNeutral = isNeutralBefore(loop, code_.uses(id), variable.init, op)});
    }
    return {};
}

/// Whether lanes can pass values of the type on and fold them: a number, or a template parameter
/// that each launch gives one.
bool LaneLoopReader::canFold(ScalarKind scalar, std::string_view type) const {
    if (isFoldable(scalar))
        return true;
    const KernelModel& kernel = context_.kernel;
    const auto parameter =
        std::ranges::find_if(kernel.templateParameters, [&](const TemplateParameter& each) {
            return each.isType && each.name == type;
        });
    if (scalar != ScalarKind::Unknown || parameter == kernel.templateParameters.end() ||
        kernel.launches.empty() || !kernel.alsoLaunchedIn.empty())
        return false;
    const auto at = static_cast<std::size_t>(parameter - kernel.templateParameters.begin());
    return std::ranges::all_of(kernel.launches, [&](const LaunchSite& launch) {
        return at < launch.templateArguments.size() && mayBeNumber(launch.templateArguments[at]);
    });
}

/// Whether a method is called on the variable.
bool LaneLoopReader::isObject(ExprId use) const {
    const ExprId parent = code_.parent(use);
    return parent != noId && body_.expr(parent).kind == ExprKind::Call &&
           body_.expr(parent).isMethod && body_.expr(parent).children.front() == use;
}

/// Whether the variable, declared around the loop, is each round's own: rounds set it before they
/// use it, and what one leaves behind is used nowhere.
bool LaneLoopReader::isOfRounds(StmtId loop, VariableId id) const {
    const Variable& variable = body_.variable(id);
    if (variable.storage != Storage::Local || variable.type.isReference ||
        variable.type.pointerDepth > 0 || !variable.type.arrayExtents.empty() ||
        (variable.type.scalar == ScalarKind::Unknown &&
         !canFold(variable.type.scalar, variable.type.spelling)) ||
        variable.type.isVolatile)
        return false;
    // Each use is in this loop or in another one that begins with a value of its own.
    return isSetInEachRound(code_, loop, id) &&
           std::ranges::all_of(code_.uses(id), [&](ExprId use) {
               return code_.holds(loop, use) ||
                      std::ranges::any_of(context_.kernel.loops, [&](const Loop& other) {
                          return code_.holds(other.statement, use) &&
                                 !code_.encloses(other.statement, loop) &&
                                 isSetInEachRound(code_, other.statement, id);
                      });
           });
}

/// Whether every use is in a loop that the variable counts.
bool LaneLoopReader::isIterator(VariableId variable) const {
    return std::ranges::all_of(code_.uses(variable), [&](ExprId use) {
        return std::ranges::any_of(context_.kernel.loops, [&](const Loop& loop) {
            return loop.inductionVariable == variable && loop.lowerBound != noId &&
                   code_.holds(loop.statement, use);
        });
    });
}

/// Returns the operator by which every statement of the loop that uses the variable folds into it;
/// empty if there is none.
std::string LaneLoopReader::foldOperator(StmtId loop, VariableId variable) const {
    std::string found;
    for (const ExprId use : code_.uses(variable)) {
        if (!code_.holds(loop, use))
            continue;
        const StmtId statement = code_.statement(use);
        const Stmt& stmt = body_.stmt(statement);
        if (stmt.kind != StmtKind::Expression)
            return {};
        const Expr& expr = body_.expr(stmt.expr);
        std::string op;
        const auto usesIn = std::ranges::count_if(code_.uses(variable), [&](ExprId other) {
            return code_.statement(other) == statement;
        });
        if (expr.kind == ExprKind::Unary && (expr.op == "++" || expr.op == "p++") &&
            expr.children[0] == use)
            op = "+";
        else if (expr.kind == ExprKind::Binary && expr.op.size() == 2 && expr.op[1] == '=' &&
                 expr.op != "==" && expr.children[0] == use && usesIn == 1)
            op = expr.op == "-=" ? "+" : expr.op.substr(0, 1);
        if (op.empty() || (!found.empty() && op != found))
            return {};
        found = op;
    }
    return found;
}

bool LaneLoopReader::isStatementOfItsOwn(const NestAccess& access) const {
    const NestNode& node = nest_.node(access.node);
    if (node.frame != 0 || node.statement == noId ||
        body_.stmt(node.statement).kind != StmtKind::Expression)
        return false;
    const Expr& expr = body_.expr(body_.stmt(node.statement).expr);
    return expr.kind == ExprKind::Call;
}

/// Adds the fold into a place. Requires that every use of it in the loop folds by one operator.
Gated<void> LaneLoopReader::addFold(NestNodeId id, const NestAccess& written,
                                    const std::string& name, LaneLoop& loop) const {
    if (std::ranges::find(loop.folds, name, &LaneFold::name) != loop.folds.end())
        return {};
    const NestArray& array = nest_.arrays[written.array];
    std::string op;
    std::vector<StmtId> folding;
    for (NestNodeId at = 0; at < nest_.nodes.size(); ++at) {
        const NestStatement* statement = nest_.node(at).computation();
        if (statement == nullptr || !isInside(nest_, id, at))
            continue;
        int reads = 0;
        int writes = 0;
        for (const NestAccessId accessId : statement->accesses) {
            const NestAccess& access = nest_.accesses[accessId];
            if (access.array != written.array)
                continue;
            if (!isSamePlace(access, written))
                return carries(line(at), name);
            reads += access.kind == AccessKind::Write ? 0 : 1;
            writes += access.kind == AccessKind::Read ? 0 : 1;
        }
        if (reads + writes == 0)
            continue;
        const bool isSame = folding.empty() || op == statement->reduction;
        if (reads != 1 || writes != 1 || statement->reduction.empty() || !isSame)
            return carries(line(at), name);
        op = statement->reduction;
        folding.push_back(nest_.node(at).statement);
    }
    if (isThreadsOwn(array))
        for (const ExprId use : code_.uses(array.variable))
            if (code_.holds(loop.statement, use) &&
                std::ranges::find(folding, code_.statement(use)) == folding.end())
                return carries(line(written.node), name);
    // Each lane subtracts its own rounds' values; what they come to is added up.
    op = op == "-" ? "+" : op;
    std::string type =
        array.isVariable ? body_.variable(array.variable).type.spelling : array.element;
    if (!isFoldOperator(op) || !canFold(array.scalar, type) || array.lanes != 1)
        return carries(line(written.node), name);
    loop.folds.push_back({.name = name,
                          .type = std::move(type),
                          .op = op,
                          .scalar = array.scalar,
                          .startsNeutral = startsNeutral(loop, written, op)});
    return {};
}

/// Whether the place is set to the operator's identity, and first used again in the loop.
bool LaneLoopReader::startsNeutral(const LaneLoop& loop, const NestAccess& folded,
                                   std::string_view op) const {
    std::vector<ExprId> uses;
    ExprId value = noId;
    if (isThreadsOwn(nest_, folded)) {
        const VariableId variable = nest_.arrays[folded.array].variable;
        value = body_.variable(variable).init;
        uses = code_.uses(variable);
    } else {
        const KeptElement* kept = keptWith(candidates_, folded);
        if (kept->initialisation == noId || kept->loop != loop.statement)
            return false;
        value = body_.expr(body_.stmt(kept->initialisation).expr).children[1];
        uses.assign(kept->uses.begin() + 1, kept->uses.end());
    }
    return isNeutralBefore(loop, uses, value, op);
}

/// Whether `value` is the operator's identity and set beside the loop, and the first of the later
/// `uses` is in the loop.
bool LaneLoopReader::isNeutralBefore(const LaneLoop& loop, const std::vector<ExprId>& uses,
                                     ExprId value, std::string_view op) const {
    if (value == noId || uses.empty() || !code_.holds(loop.statement, uses.front()))
        return false;
    // A loop around would come back with another value.
    if (body_.stmt(loop.statement).parent != body_.stmt(code_.statement(value)).parent)
        return false;
    const Expr& number = body_.expr(code_.withoutCasts(value));
    const double identity = op == "*" ? 1 : 0;
    return (number.kind == ExprKind::Integer && static_cast<double>(number.integer) == identity) ||
           (number.kind == ExprKind::Floating && number.floating == identity);
}

Gated<void> LaneLoopReader::addKeptFold(NestNodeId id, const NestAccess& access, LaneLoop& loop) {
    const KeptElement* known = keptWith(candidates_, access);
    if (known == nullptr)
        return std::unexpected(refusal_.value_or(Refusal{
            "carries-over", fmt::format("line {} changes an element that the next round sees",
                                        line(access.node))}));
    KERNELSKILL_CHECK(addFold(id, access, known->text, loop));
    if (keptWith(kept_, access) == nullptr)
        kept_.push_back(*known);
    return {};
}

} // namespace kernelskill::skills
