#include "skills/schedule/kept_element.h"

#include "analysis/nest/facts.h"
#include "analysis/queries/source_layout.h"
#include "analysis/source/try.h"
#include "analysis/syntax/statement_kinds.h"
#include "skills/base/gates.h"
#include "skills/gates/aliasing.h"
#include "skills/schedule/apart_by_races.h"
#include "skills/schedule/draft.h"
#include "skills/schedule/nest_queries.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <set>

namespace kernelskill::skills {

using namespace analysis;

namespace {

bool writes(AccessKind kind) {
    return kind != AccessKind::Read;
}

/// "unsigned int" of "const unsigned int &".
std::string valueType(const Type& type) {
    std::string name = type.spelling;
    for (const std::string_view word : {"const ", "volatile ", "&"})
        for (auto at = name.find(word); at != std::string::npos; at = name.find(word))
            name.erase(at, word.size());
    while (name.ends_with(' '))
        name.pop_back();
    return name;
}

class ElementFinder {
public:
    ElementFinder(const SkillContext& context, KeptElements which)
        : context_(context), which_(which), kernel_(context.kernel), code_(context.code()),
          body_(code_.body()), nest_(context.shared().nest()),
          layout_(*context.file.source, context.kernel) {
        for (NestNodeId id = 0; id < nest_.nodes.size(); ++id)
            places_.push_back(placeOf(nest_, code_, id));
    }

    Gated<std::vector<KeptElement>> find() {
        std::vector<KeptElement> found;
        std::optional<Refusal> first;
        std::set<std::pair<StmtId, NestAccessId>> known;
        for (NestAccessId id = 0; id < nest_.accesses.size(); ++id) {
            const NestAccess& access = nest_.accesses[id];
            const StmtId loop =
                access.frame == 0 && isElement(access) ? outermostLoop(access.expression) : noId;
            if (loop == noId || (which_ == KeptElements::Reloaded && !isReloaded(access, loop)) ||
                !known.emplace(loop, firstLike(access, loop)).second)
                continue;
            auto element = keptIn(access, loop);
            if (element)
                found.push_back(*std::move(element));
            else if (!first)
                first = std::move(element.error());
        }
        if (found.empty() && first)
            return std::unexpected(*std::move(first));
        if (found.empty())
            return refuse("no-kept-element",
                          fmt::format("no loop of {} loads or stores one element again and again "
                                      "that the compiler could not keep in a register by itself",
                                      kernel_.name));
        std::ranges::stable_sort(found, {}, [&](const KeptElement& element) {
            return body_.stmt(element.loop).span.begin;
        });
        return found;
    }

private:
    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }
    [[nodiscard]] std::uint32_t lineOf(ExprId expr) const { return line(body_.expr(expr).span); }
    [[nodiscard]] const NestArray& arrayOf(const NestAccess& access) const {
        return nest_.arrays[access.array];
    }

    [[nodiscard]] bool isIn(StmtId outer, NestNodeId node) const {
        return places_[node] == noId || code_.encloses(outer, places_[node]);
    }

    /// Memory with a place that the text names, other than by what memory holds.
    [[nodiscard]] bool isElement(const NestAccess& access) const {
        if (access.array == noId || access.expression == noId || !access.index ||
            access.kind == AccessKind::Atomic)
            return false;
        const NestArray& array = arrayOf(access);
        if (isThreadsOwn(array) || array.isLoaded || array.frame != 0 || array.variable == noId ||
            array.space == MemorySpace::Constant || array.space == MemorySpace::Generic)
            return false;
        const Type& type = body_.expr(access.expression).type;
        return !type.isVolatile && type.pointerDepth == 0 && type.arrayExtents.empty() &&
               (type.scalar != ScalarKind::Unknown || type.isDependent) && isSpelled(access);
    }

    /// The span of the expression is the text of it and nothing else.
    [[nodiscard]] bool isSpelled(const NestAccess& access) const {
        const Expr& expr = body_.expr(access.expression);
        if (!expr.fromMacro)
            return expr.span.begin < expr.span.end;
        const std::string_view text = context_.file.source->slice(expr.span);
        const std::string& name = body_.variable(arrayOf(access).variable).name;
        if (expr.kind != ExprKind::Subscript || !text.starts_with(name) || !text.ends_with(']'))
            return false;
        int depth = 0;
        for (std::size_t at = name.size(); at < text.size(); ++at) {
            depth += text[at] == '[' ? 1 : text[at] == ']' ? -1 : 0;
            if (depth < 0 || (depth == 0 && text[at] != ']' && text[at] != ' '))
                return false;
        }
        return depth == 0;
    }

    /// The same wherever it is evaluated in `statement`, and without effect.
    [[nodiscard]] bool isStable(StmtId statement, ExprId element) const {
        for (const ExprId id : code_.expressionsBelow(element)) {
            const Expr& expr = body_.expr(id);
            switch (expr.kind) {
            case ExprKind::Integer:
            case ExprKind::BuiltinIndex:
            case ExprKind::Member:
            case ExprKind::Cast:
            case ExprKind::Conditional:
                break;
            case ExprKind::Subscript:
                // The outermost are the dimensions of the element itself.
                if (id != element && !isDimensionOf(element, id))
                    return false;
                break;
            case ExprKind::Unary:
                if (expr.op != "-" && expr.op != "~" && !(expr.op == "*" && id == element))
                    return false;
                break;
            case ExprKind::Binary:
                if (isAssignment(expr.op))
                    return false;
                break;
            case ExprKind::Variable:
                if (expr.variable != noId && isSetIn(statement, expr.variable))
                    return false;
                break;
            default:
                return false;
            }
        }
        return true;
    }
    [[nodiscard]] bool isDimensionOf(ExprId element, ExprId subscript) const {
        ExprId at = element;
        while (at != subscript && body_.expr(at).kind == ExprKind::Subscript &&
               !body_.expr(body_.expr(at).children[0]).type.arrayExtents.empty())
            at = body_.expr(at).children[0];
        return at == subscript;
    }
    [[nodiscard]] bool isSetIn(StmtId statement, VariableId variable) const {
        const StmtId declaration = code_.declarationOf(variable);
        // A method of an object may change it.
        const bool isObject = body_.variable(variable).type.scalar == ScalarKind::Unknown;
        return (declaration != noId && code_.encloses(statement, declaration)) ||
               std::ranges::any_of(code_.uses(variable), [&](ExprId use) {
                   const ExprId parent = code_.parent(use);
                   const bool isCalled =
                       parent != noId && body_.expr(parent).kind == ExprKind::Call;
                   return (code_.isWrite(use) || (isObject && isCalled)) &&
                          code_.holds(statement, use);
               });
    }

    [[nodiscard]] StmtId outermostLoop(ExprId element) const {
        StmtId found = noId;
        for (StmtId at = code_.statement(element); at != noId; at = body_.stmt(at).parent) {
            if (!isLoop(body_.stmt(at).kind))
                continue;
            if (!isStable(at, element))
                break;
            found = at;
        }
        return found;
    }

    [[nodiscard]] static bool isSame(const NestAccess& a, const NestAccess& b) {
        return a.array == b.array && a.unit == b.unit && a.field == b.field && a.index && b.index &&
               *a.index == *b.index;
    }
    [[nodiscard]] static bool isApart(const NestAccess& a, const NestAccess& b) {
        if (a.unit != b.unit || a.field != b.field || a.width > a.unit || b.width > b.unit ||
            !a.index || !b.index)
            return false;
        const auto distance = (*a.index - *b.index).asConstant();
        return distance && *distance != 0;
    }
    [[nodiscard]] NestAccessId firstLike(const NestAccess& access, StmtId loop) const {
        for (NestAccessId id = 0; id < nest_.accesses.size(); ++id)
            if (isSame(nest_.accesses[id], access) && isIn(loop, nest_.accesses[id].node))
                return id;
        return noId;
    }

    /// Whether the compiler has to take the loop to write or read the element by another pointer.
    [[nodiscard]] bool isReloaded(const NestAccess& element, StmtId loop) const {
        bool isWritten = false;
        for (const NestAccess& access : nest_.accesses)
            isWritten |= isSame(access, element) && writes(access.kind) && isIn(loop, access.node);
        const NestArray& array = arrayOf(element);
        return std::ranges::any_of(nest_.accesses, [&](const NestAccess& other) {
            if (!isIn(loop, other.node) || other.array == noId || other.array == element.array ||
                !(isWritten || writes(other.kind)))
                return false;
            const NestArray& otherArray = arrayOf(other);
            return !isThreadsOwn(otherArray) && mayOverlap(array, otherArray);
        });
    }

    [[nodiscard]] Gated<KeptElement> keptIn(const NestAccess& access, StmtId loop) const {
        KeptElement element;
        element.array = access.array;
        element.loop = loop;
        element.text = context_.file.source->slice(body_.expr(access.expression).span);
        element.type = valueType(body_.expr(access.expression).type);
        KERNELSKILL_CHECK(findRegion(access, element));
        for (const NestAccess& use : nest_.accesses) {
            if (!isSame(use, access) || !isInRegion(element, use.node))
                continue;
            if (std::ranges::find(element.uses, use.expression) == element.uses.end())
                element.uses.push_back(use.expression);
            element.isWritten |= writes(use.kind);
            if (code_.holds(loop, use.expression))
                element.roundUses += use.kind == AccessKind::ReadWrite ? 2 : 1;
        }
        std::ranges::sort(element.uses, {}, [&](ExprId use) { return body_.expr(use).span.begin; });
        element.reduction = reductionOf(access, loop);
        element.initialisation = initialisationOf(element);
        if (element.initialisation == noId)
            KERNELSKILL_CHECK(requireCertainUse(access, element));
        return element;
    }

    [[nodiscard]] bool isInRegion(const KeptElement& element, NestNodeId node) const {
        return std::ranges::any_of(element.region, [&](StmtId at) { return isIn(at, node); });
    }

    /// The loop, and its neighbours up to the first and last that use the element.
    [[nodiscard]] Gated<void> findRegion(const NestAccess& access, KeptElement& element) const {
        const StmtId block = body_.stmt(element.loop).parent;
        if (which_ == KeptElements::OfRounds && block != noId &&
            body_.stmt(block).kind != StmtKind::Compound) {
            element.region = {element.loop};
            return requireKept(access, element.loop);
        }
        const StmtId around = block == noId ? noId : body_.stmt(block).parent;
        if (block == noId || body_.stmt(block).kind != StmtKind::Compound ||
            (around != noId && body_.stmt(around).kind == StmtKind::Switch))
            return refuse(
                "several-statements-a-line",
                fmt::format("the loop on line {} is not a statement of a block of its own",
                            line(body_.stmt(element.loop).span)));
        KERNELSKILL_CHECK(requireKept(access, element.loop));
        const std::vector<StmtId>& all = body_.stmt(block).children;
        const auto loop = std::ranges::find(all, element.loop) - all.begin();
        const auto canJoin = [&](std::ptrdiff_t at) {
            const StmtId id = all[static_cast<std::size_t>(at)];
            return isStable(id, access.expression) && requireKept(access, id).has_value() &&
                   body_.stmt(id).kind != StmtKind::Case;
        };
        const auto usesIt = [&](std::ptrdiff_t at) {
            return std::ranges::any_of(nest_.accesses, [&](const NestAccess& use) {
                return isSame(use, access) && isIn(all[static_cast<std::size_t>(at)], use.node);
            });
        };
        std::ptrdiff_t first = loop;
        std::ptrdiff_t last = loop;
        for (std::ptrdiff_t at = loop - 1; at >= 0 && canJoin(at); --at)
            first = usesIt(at) ? at : first;
        const auto count = static_cast<std::ptrdiff_t>(all.size());
        for (std::ptrdiff_t at = loop + 1; at < count && canJoin(at); ++at)
            last = usesIt(at) ? at : last;
        element.region.assign(all.begin() + first, all.begin() + last + 1);
        return requireOwnLines(element);
    }

    [[nodiscard]] Gated<void> requireOwnLines(const KeptElement& element) const {
        if (which_ == KeptElements::OfRounds ||
            hasOwnLines(body_, layout_, element.region.front(), element.region.back()))
            return {};
        return refuse(
            "several-statements-a-line",
            fmt::format("other code stands on the lines of {} to {}",
                        line(body_.stmt(element.region.front()).span),
                        lineNumber(context_, body_.stmt(element.region.back()).span.end)));
    }

    /// In `statement` the element is used by its name alone, and by this thread alone.
    [[nodiscard]] Gated<void> requireKept(const NestAccess& element, StmtId statement) const {
        KERNELSKILL_CHECK(requireNoExit(statement));
        for (NestNodeId id = 0; id < nest_.nodes.size(); ++id) {
            const NestNode& node = nest_.node(id);
            if (!isIn(statement, id))
                continue;
            if (node.barrier() != nullptr)
                return refuse("ordered-memory",
                              fmt::format("the barrier on line {} lets other threads see or change "
                                          "{}",
                                          line(node.span), arrayOf(element).name));
            if (node.computation() == nullptr)
                continue;
            if (!node.computation()->opaque.empty())
                return refuse("unknown-effects", fmt::format("line {}: {}", line(node.span),
                                                             node.computation()->opaque));
            for (const NestAccessId access : node.computation()->accesses)
                KERNELSKILL_CHECK(requireElsewhere(element, nest_.accesses[access], node));
        }
        return {};
    }

    [[nodiscard]] Gated<void> requireNoExit(StmtId statement) const {
        for (const StmtId id : code_.statementsIn(statement)) {
            const StmtKind kind = body_.stmt(id).kind;
            const bool isJump = kind == StmtKind::Break || kind == StmtKind::Continue;
            if (kind == StmtKind::Asm || kind == StmtKind::Other)
                return refuse("unknown-effects", fmt::format("what line {} does is not known",
                                                             line(body_.stmt(id).span)));
            if (kind == StmtKind::Return || kind == StmtKind::Goto ||
                (isJump && leaves(statement, id)))
                return refuse("leaves-loop",
                              fmt::format("line {} leaves before the element could be stored",
                                          line(body_.stmt(id).span)));
        }
        return {};
    }
    [[nodiscard]] bool leaves(StmtId statement, StmtId jump) const {
        for (StmtId at = jump;; at = body_.stmt(at).parent) {
            const StmtKind kind = body_.stmt(at).kind;
            if (isLoop(kind) ||
                (kind == StmtKind::Switch && body_.stmt(jump).kind == StmtKind::Break))
                return false;
            if (at == statement)
                return true;
        }
    }

    /// `access` is the element itself or another place.
    [[nodiscard]] Gated<void> requireElsewhere(const NestAccess& element, const NestAccess& access,
                                               const NestNode& node) const {
        const NestArray& array = arrayOf(element);
        if (access.array == noId)
            return refuse("may-alias",
                          fmt::format("where line {} goes is not known", line(node.span)));
        const NestArray& other = arrayOf(access);
        if (access.array == element.array) {
            if ((isSame(element, access) && access.frame == 0 && isElement(access)) ||
                isApart(element, access) || (!writes(access.kind) && !isWrittenAnywhere(element)))
                return {};
            return refuse("may-alias", fmt::format("line {} may use the same element of {}",
                                                   line(node.span), array.name));
        }
        if (isThreadsOwn(other) || differInSpace(array, other) || differInType(array, other) ||
            (!writes(access.kind) && !isWrittenAnywhere(element)))
            return {};
        if (other.isLoaded || other.frame != 0)
            return refuse("may-alias",
                          fmt::format("{} (line {}) may lead to the same element of {}", other.name,
                                      line(node.span), array.name));
        auto distinct = requireDistinctMemory(context_, array.variable, other.variable);
        return !distinct && isApartByRaces(element, access) ? Gated<void>{} : distinct;
    }
    /// Whether threads would race wherever they store the element and `access` were one.
    [[nodiscard]] bool isApartByRaces(const NestAccess& element, const NestAccess& access) const {
        return which_ == KeptElements::All && kernel_.launches.empty() &&
               kernel_.kind == FunctionKind::Kernel &&
               std::ranges::any_of(nest_.accesses, [&](const NestAccess& store) {
                   return isSame(store, element) && writes(store.kind) &&
                          areApartByRaces(nest_, store, access);
               });
    }
    [[nodiscard]] bool isWrittenAnywhere(const NestAccess& element) const {
        return std::ranges::any_of(nest_.accesses, [&](const NestAccess& access) {
            return access.array == element.array && writes(access.kind);
        });
    }

    /// The operator that the loop folds into the element, which it uses for nothing else.
    [[nodiscard]] std::string reductionOf(const NestAccess& element, StmtId loop) const {
        std::string found;
        for (const NestNode& node : nest_.nodes) {
            const NestStatement* statement = node.computation();
            if (statement == nullptr)
                continue;
            for (const NestAccessId id : statement->accesses) {
                const NestAccess& access = nest_.accesses[id];
                if (!isSame(access, element) || !isIn(loop, access.node))
                    continue;
                if (statement->reduction.empty() ||
                    (!found.empty() && found != statement->reduction))
                    return {};
                found = statement->reduction;
            }
        }
        return found;
    }

    /// The first statement of the region if it does nothing but set the element.
    [[nodiscard]] StmtId initialisationOf(const KeptElement& element) const {
        const Stmt& first = body_.stmt(element.region.front());
        if (first.kind != StmtKind::Expression || element.region.size() == 1)
            return noId;
        const Expr& expr = body_.expr(first.expr);
        if (expr.kind != ExprKind::Binary || expr.op != "=" ||
            expr.children[0] != element.uses.front())
            return noId;
        const bool readsIt = std::ranges::any_of(element.uses, [&](ExprId use) {
            return use != expr.children[0] && code_.holds(element.region.front(), use);
        });
        return readsIt ? noId : element.region.front();
    }

    /// Each run of the region uses the element, so that it may be read before and stored behind.
    [[nodiscard]] Gated<void> requireCertainUse(const NestAccess& element,
                                                KeptElement& kept) const {
        const bool isCertain = std::ranges::any_of(nest_.accesses, [&](const NestAccess& access) {
            return isSame(access, element) && isInRegion(kept, access.node) &&
                   isCertainRun(kept, access);
        });
        if (isCertain)
            return {};
        kept.needsRound = which_ == KeptElements::OfRounds &&
                          std::ranges::any_of(nest_.accesses, [&](const NestAccess& access) {
                              return isSame(access, element) && isInRound(kept, access);
                          });
        if (kept.needsRound)
            return {};
        return refuse("may-not-run",
                      fmt::format("nothing shows that the loop on line {} uses {} at least once: "
                                  "reading it before might be out of bounds",
                                  line(body_.stmt(kept.loop).span), kept.text));
    }
    [[nodiscard]] bool isCertainRun(const KeptElement& kept, const NestAccess& access) const {
        if (!access.condition.isAlways())
            return false;
        for (NestNodeId id = nest_.node(access.node).parent; id != noId && isInRegion(kept, id);
             id = nest_.node(id).parent) {
            const NestNode& node = nest_.node(id);
            if (node.guard() != nullptr || (node.loop() != nullptr && !runsOnce(id)))
                return false;
        }
        return true;
    }
    /// Each round of the loop uses it.
    [[nodiscard]] bool isInRound(const KeptElement& kept, const NestAccess& access) const {
        if (!access.condition.isAlways())
            return false;
        for (NestNodeId id = nest_.node(access.node).parent; id != noId;
             id = nest_.node(id).parent) {
            const NestNode& node = nest_.node(id);
            if (node.loop() != nullptr && node.frame == 0 && node.statement == kept.loop)
                return !node.loop()->mayStop;
            if (node.guard() != nullptr || node.loop() != nullptr)
                return false;
        }
        return false;
    }
    [[nodiscard]] bool runsOnce(NestNodeId id) const {
        const NestLoop& loop = *nest_.node(id).loop();
        if (loop.kind == LoopKind::Do)
            return true;
        if (!loop.first || !loop.end)
            return false;
        const IndexExpression rounds =
            loop.isDownward ? *loop.first - *loop.end : *loop.end - *loop.first;
        return isProved(nest_, factsAt(nest_, id), rounds - IndexExpression::constant(1));
    }

    const SkillContext& context_;
    KeptElements which_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const Nest& nest_;
    SourceLayout layout_;
    std::vector<StmtId> places_; ///< Per node.
};

} // namespace

Gated<std::vector<KeptElement>> keptElements(const SkillContext& context, KeptElements which) {
    return ElementFinder(context, which).find();
}

} // namespace kernelskill::skills
