#include "skills/vectorized-access/neighbour_places.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/value_spelling.h"
#include "analysis/source/try.h"
#include "analysis/syntax/scalar_bytes.h"
#include "skills/base/gates.h"
#include "skills/gates/vector_types.h"
#include "skills/schedule/term_loop.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr int mostLanes = 4;

/// Larger records leave few registers.
constexpr std::uint32_t mostRecordBytes = 16;

class PlaceReader {
public:
    PlaceReader(const SkillContext& context, const ElementSteps& steps,
                const std::vector<StmtId>& work)
        : context_(context), code_(context.code()), body_(code_.body()), steps_(steps),
          work_(work) {}

    Gated<NeighbourPlaces> read() {
        std::string other;
        for (const MemoryAccess& access : context_.kernel.accesses) {
            if (!accessesMemory(code_, work_, access))
                continue;
            std::string why = scalarReason(access);
            if (why.empty()) {
                KERNELSKILL_CHECK(addAccess(access));
                continue;
            }
            const ExprId place = elementOf(code_, access.expression);
            const Step step = stepOf(place);
            if (access.kind != AccessKind::Read || (step == Step::Other && !isGathered(place)))
                return refuse("strided-access", std::move(why));
            if (step == Step::One)
                addScalar(place);
            other = std::move(why);
        }
        dropConditional(other);
        if (found_.places.empty())
            return refuse("no-unit-stride-access",
                          other.empty() ? fmt::format("{} moves no elements that are side by side",
                                                      context_.kernel.name)
                                        : other);
        KERNELSKILL_CHECK(requireMostInVectors());
        KERNELSKILL_CHECK(chooseTypes());
        return std::move(found_);
    }

private:
    [[nodiscard]] std::uint32_t lineOf(ExprId expr) const {
        return lineNumber(context_, body_.expr(expr).span.begin);
    }

    void addScalar(ExprId place) {
        if (std::ranges::none_of(scalars_,
                                 [&](ExprId known) { return code_.sameExpression(known, place); }))
            scalars_.push_back(place);
    }

    /// Refuses where neighbours that are loaded one by one are more than what vectors hold: threads
    /// take them from places further apart.
    [[nodiscard]] Gated<void> requireMostInVectors() const {
        const auto bytesOf = [&](ExprId place) {
            const Type& type = body_.expr(place).type;
            return isPointer(place) ? type.elementSize : type.size;
        };
        std::uint32_t vectors = 0;
        for (const NeighbourPlace& place : found_.places)
            vectors += bytesOf(place.place);
        std::uint32_t scalars = 0;
        for (const ExprId place : scalars_)
            scalars += bytesOf(place);
        if (scalars > vectors)
            return refuse("no-unit-stride-access",
                          fmt::format("of the neighbours that a thread loads, {} on line {} and "
                                      "more could be in no vector",
                                      nameOf(scalars_.front()), lineOf(scalars_.front())));
        return {};
    }

    /// Whether memory says, for each element, where the place is.
    [[nodiscard]] bool isGathered(ExprId place) const {
        std::vector<ExprId> parts = body_.expr(place).children;
        std::vector<VariableId> seen;
        while (!parts.empty()) {
            const ExprId part = parts.back();
            parts.pop_back();
            for (const ExprId id : code_.expressionsBelow(part)) {
                const Expr& expr = body_.expr(id);
                const bool reads = expr.kind == ExprKind::Subscript ||
                                   (expr.kind == ExprKind::Unary && expr.op == "*");
                if (reads && steps_.ofAddress(id) != Step::None)
                    return true;
                if (expr.kind == ExprKind::Variable && expr.variable != noId &&
                    steps_.followsIndex(expr.variable) &&
                    std::ranges::find(seen, expr.variable) == seen.end()) {
                    seen.push_back(expr.variable);
                    for (const ExprId definition : steps_.definitionsOf(expr.variable))
                        parts.push_back(definition);
                }
            }
        }
        return false;
    }

    /// Why an access stays scalar; empty if it need not.
    [[nodiscard]] std::string scalarReason(const MemoryAccess& access) const {
        const ExprId place = elementOf(code_, access.expression);
        const std::uint32_t line = lineOf(access.expression);
        const std::string name = nameOf(place);
        const bool isPart = body_.expr(access.expression).kind == ExprKind::Member;
        if (stepOf(place) != Step::One || !beginsWithVector(place))
            return fmt::format("{} on line {} is not accessed at the element next to that of the "
                               "thread before",
                               name, line);
        if (isRecord(place) ? isPart && access.kind != AccessKind::Read
                            : isPart || !hasVectorType(place))
            return fmt::format("{} on line {} has no vector type for its elements", name, line);
        if (!isSpelledOut(code_, place))
            return fmt::format("{} on line {} is part of a macro", name, line);
        if (const auto hint = cacheHintAround(code_, access.expression); !hint.empty())
            return fmt::format("{} is accessed by {} on line {}", name, hint, line);
        return {};
    }

    [[nodiscard]] bool hasVectorType(ExprId place) const {
        const Type& type = body_.expr(place).type;
        return !type.isDependent && type.lanes == 1 && !type.isVolatile &&
               type.pointerDepth == (isPointer(place) ? 1 : 0) &&
               !vectorType(type.scalar, 2).empty();
    }

    /// Whether the place is given by its address, as in `__ldg(p + i)`.
    [[nodiscard]] bool isPointer(ExprId place) const { return givesAddress(body_.expr(place)); }

    [[nodiscard]] Step stepOf(ExprId place) const {
        return isPointer(place) ? steps_.of(place) : steps_.ofAddress(place);
    }

    /// Whether the element is a class of bytes, of which some are whole words.
    [[nodiscard]] bool isRecord(ExprId place) const {
        const Type& type = body_.expr(place).type;
        return type.isPlainClass && type.arrayExtents.empty() && !type.isDependent &&
               type.lanes == 1 && !type.isVolatile && type.pointerDepth == 0 &&
               type.alignment == 1 && type.size <= mostRecordBytes;
    }

    /// Whether nothing shows that the group's first element is never at the beginning of a vector.
    [[nodiscard]] bool beginsWithVector(ExprId place) const {
        const Expr& expr = body_.expr(place);
        const auto index =
            expr.kind == ExprKind::Subscript ? polynomialOf(code_, expr.children[1]) : std::nullopt;
        if (!index)
            return true;
        const auto constant = index->terms().find({});
        return constant == index->terms().end() || constant->second % mostLanes == 0;
    }

    /// The name by which the place is reached.
    [[nodiscard]] std::string nameOf(ExprId place) const {
        ExprId at = place;
        while (body_.expr(at).kind != ExprKind::Variable &&
               body_.expr(at).kind != ExprKind::Member && !body_.expr(at).children.empty())
            at = body_.expr(at).children.front();
        const Expr& named = body_.expr(at);
        return named.name.empty() ? "memory" : named.name;
    }

    Gated<void> addAccess(const MemoryAccess& access) {
        const ExprId place = elementOf(code_, access.expression);
        ExprId replaced = place;
        if (const ExprId load = readOnlyLoadAround(code_, access.expression); load != noId)
            replaced = load;
        auto found = std::ranges::find_if(found_.places, [&](const NeighbourPlace& other) {
            return code_.sameExpression(other.place, place);
        });
        if (found == found_.places.end()) {
            found_.places.push_back({.place = place, .type = {}, .vector = {}, .record = {}});
            isAlways_.push_back(false);
            found = found_.places.end() - 1;
        }
        const auto at = static_cast<std::size_t>(found - found_.places.begin());
        const bool isAlways = isUnconditional(code_, work_, replaced);
        isAlways_[at] = isAlways_[at] || isAlways;
        found->isRead = found->isRead || access.kind != AccessKind::Write;
        if (access.kind != AccessKind::Read) {
            if (!isAlways)
                return refuse("conditional-store", fmt::format("{} is stored under a condition on "
                                                               "line {}",
                                                               nameOf(place), lineOf(place)));
            found->isWritten = true;
            found->lastWrite = std::max(found->lastWrite, body_.expr(replaced).span.begin);
        }
        found_.accesses.push_back({replaced, at});
        return {};
    }

    /// Takes away the places that are only read under a condition.
    void dropConditional(std::string& other) {
        for (std::size_t at = found_.places.size(); at-- > 0;) {
            if (isAlways_[at])
                continue;
            other =
                fmt::format("{} is only read under a condition", nameOf(found_.places[at].place));
            found_.places.erase(found_.places.begin() + static_cast<std::ptrdiff_t>(at));
            std::erase_if(found_.accesses,
                          [&](const NeighbourAccess& access) { return access.place == at; });
            for (NeighbourAccess& access : found_.accesses)
                access.place -= access.place > at ? 1 : 0;
        }
    }

    /// The widest access of all is at most 16 bytes.
    Gated<void> chooseTypes() {
        std::uint32_t widest = 0;
        bool isPairOnly = false;
        for (const NeighbourPlace& place : found_.places) {
            if (isRecord(place.place))
                continue;
            const ScalarKind scalar = body_.expr(place.place).type.scalar;
            widest = std::max(widest, analysis::scalarBytes(scalar));
            isPairOnly = isPairOnly || vectorType(scalar, mostLanes).empty();
        }
        found_.lanes = isPairOnly || widest > 4 ? 2 : mostLanes;
        std::vector<std::string> taken;
        for (NeighbourPlace& place : found_.places) {
            if (!isRecord(place.place))
                chooseVector(place);
            else if (!chooseWords(place))
                return refuse("no-unit-stride-access",
                              fmt::format("{} elements of {} are no whole words", found_.lanes,
                                          nameOf(place.place)));
            std::string name = fmt::format("{}{}", nameOf(place.place), found_.lanes);
            while (std::ranges::find(taken, freshName(body_, name)) != taken.end())
                name += "b";
            place.vector = freshName(body_, name);
            taken.push_back(place.vector);
        }
        return {};
    }

    void chooseVector(NeighbourPlace& place) const {
        const ScalarKind scalar = body_.expr(place.place).type.scalar;
        place.type = vectorType(scalar, found_.lanes);
        place.bytes = analysis::scalarBytes(scalar) * static_cast<std::uint32_t>(found_.lanes);
    }

    /// The widest words of which a group of records is a whole number; false if there are none.
    [[nodiscard]] bool chooseWords(NeighbourPlace& place) const {
        const Type& type = body_.expr(place.place).type;
        const std::uint32_t group = type.size * static_cast<std::uint32_t>(found_.lanes);
        if (group % 4 != 0)
            return false;
        const std::uint32_t words = group % 16 == 0 ? 4 : group % 8 == 0 ? 2 : 1;
        place.record = valueSpelling(type);
        place.type = words == 1 ? "unsigned" : fmt::format("uint{}", words);
        place.bytes = 4 * words;
        place.accesses = group / place.bytes;
        return true;
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const ElementSteps& steps_;
    const std::vector<StmtId>& work_;
    std::vector<bool> isAlways_;  ///< For each place, whether an access always runs.
    std::vector<ExprId> scalars_; ///< Neighbours that are in no vector.
    NeighbourPlaces found_;
};

} // namespace

bool givesAddress(const Expr& place) {
    return place.type.pointerDepth > 0 && place.kind != ExprKind::Subscript &&
           place.kind != ExprKind::Member && (place.kind != ExprKind::Unary || place.op != "*");
}

bool accessesMemory(const CodeMap& code, const std::vector<StmtId>& work,
                    const MemoryAccess& access) {
    const Expr& accessed = code.body().expr(code.withoutCasts(access.expression));
    return access.space != MemorySpace::Local &&
           (accessed.kind != ExprKind::Variable || accessed.type.pointerDepth > 0) &&
           std::ranges::any_of(work,
                               [&](StmtId top) { return code.holds(top, access.expression); });
}

Gated<NeighbourPlaces> neighbourPlaces(const SkillContext& context, const ElementSteps& steps,
                                       const std::vector<StmtId>& work) {
    return PlaceReader(context, steps, work).read();
}

} // namespace kernelskill::skills
