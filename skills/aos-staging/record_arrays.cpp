#include "skills/aos-staging/record_arrays.h"

#include "analysis/source/gpu_constants.h"
#include "analysis/source/try.h"
#include "skills/aos-staging/record_places.h"
#include "skills/aos-staging/record_reach.h"
#include "skills/base/gates.h"
#include "skills/schedule/nest_queries.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Longer records are rows of a matrix, and would fill shared memory.
constexpr std::int64_t maxRecordBytes = 128;
/// The min quotient of sectors before and after: less does not pay the way through shared memory.
constexpr double minSectorRatio = 1.5;

/// The sectors of a warp's request whose lanes are `stride` bytes apart.
double sectorsOf(std::int64_t stride, std::int64_t width) {
    const std::int64_t span = stride * (warpLanes - 1) + width;
    return static_cast<double>(std::min((span + sectorBytes - 1) / sectorBytes, warpLanes));
}

class ArrayFinder {
public:
    explicit ArrayFinder(const SkillContext& context)
        : context_(context), code_(context.code()), body_(code_.body()),
          nest_(context.shared().nest()) {}

    Gated<RecordArrays> find() {
        for (const Parameter& parameter : context_.kernel.parameters)
            if (parameter.type.pointerDepth == 1 && !parameter.type.isReference)
                keep(accessed(parameter));
        if (found_.arrays.empty())
            return none();
        KERNELSKILL_TRY(found_.guard, rowGuard(context_, roots()));
        std::vector<RecordArray> candidates = std::move(found_.arrays);
        found_.arrays.clear();
        for (RecordArray& array : candidates)
            keep(checked(std::move(array)));
        if (found_.arrays.empty())
            return none();
        return std::move(found_);
    }

private:
    void keep(Gated<std::optional<RecordArray>> array) {
        if (!array && !refused_)
            refused_ = std::move(array.error());
        else if (array && *array)
            found_.arrays.push_back(*std::move(*array));
    }
    [[nodiscard]] std::unexpected<Refusal> none() const {
        if (refused_)
            return std::unexpected(*refused_);
        return refuse("no-records",
                      fmt::format("no array of {} is one of records, of which each thread has one",
                                  context_.kernel.name));
    }

    [[nodiscard]] std::vector<StmtId> roots() const {
        std::vector<StmtId> all;
        for (const RecordArray& array : found_.arrays)
            for (const StmtId root : array.roots)
                if (std::ranges::find(all, root) == all.end())
                    all.push_back(root);
        return all;
    }

    [[nodiscard]] const std::string& nameOf(VariableId variable) const {
        return body_.variable(variable).name;
    }
    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }

    [[nodiscard]] bool goesTo(const NestAccess& access, VariableId variable) const {
        return access.array != noId && nest_.arrays[access.array].variable == variable &&
               nest_.arrays[access.array].frame == 0 && !nest_.arrays[access.array].isVariable &&
               !nest_.arrays[access.array].isLoaded;
    }
    /// The statement of the outermost block that the access is in.
    [[nodiscard]] StmtId rootOf(const NestAccess& access) const {
        StmtId at = placeOf(nest_, code_, access.node);
        while (at != noId && body_.stmt(at).parent != body_.root)
            at = body_.stmt(at).parent;
        return at;
    }

    /// The array by what its accesses alone tell; nullopt if it is no array of records.
    Gated<std::optional<RecordArray>> accessed(const Parameter& parameter) {
        const Type& type = parameter.type;
        RecordArray array;
        array.variable = parameter.variable;
        array.isConst = type.pointeeConst;
        std::vector<const NestAccess*> accesses;
        std::int64_t stride = 0;
        for (const NestAccess& access : nest_.accesses)
            if (goesTo(access, parameter.variable)) {
                accesses.push_back(&access);
                if (const auto reach = recordReach(nest_, access))
                    stride = std::max(stride, reach->stride);
            }
        if (accesses.empty() || type.elementSize == 0)
            return std::nullopt;
        const NestArray& known = nest_.arrays[accesses.front()->array];
        array.isClass = known.scalar == ScalarKind::Unknown || known.lanes > 1;
        array.element = bareType(known.element);
        const std::int64_t least = array.isClass ? type.elementSize : 3 * type.elementSize;
        if (stride < least || stride > maxRecordBytes || stride % type.elementSize != 0 ||
            (array.isClass && stride != type.elementSize))
            return std::nullopt;
        for (const NestAccess* access : accesses)
            KERNELSKILL_CHECK(takeAccess(*access, stride, array));
        if (type.isVolatile)
            return refuse("not-own-record",
                          fmt::format("{} leads to volatile memory", parameter.name));
        KERNELSKILL_CHECK(chooseWords(type, known, stride, array));
        return array;
    }

    /// The type without `const` and `struct`.
    static std::string bareType(std::string text) {
        for (const std::string_view word : {"const ", "struct "})
            if (text.starts_with(word))
                text.erase(0, word.size());
        if (text.ends_with(" const"))
            text.resize(text.size() - 6);
        return text;
    }

    Gated<void> takeAccess(const NestAccess& access, std::int64_t stride, RecordArray& array) {
        const auto reach = recordReach(nest_, access);
        const std::string& name = nameOf(array.variable);
        const Span place = nest_.node(access.node).span;
        const bool isOwn =
            reach && reach->stride == stride && access.width > 0 &&
            access.kind != AccessKind::Atomic && *reach->offsets.begin() >= 0 &&
            *reach->offsets.rbegin() + access.width <= stride &&
            reach->begin == begins_.try_emplace(array.variable, reach->begin).first->second;
        if (!isOwn || rootOf(access) == noId)
            return refuse("not-own-record",
                          fmt::format("line {} goes to {} other than to the record that the "
                                      "thread has for its own",
                                      line(place), name));
        array.isRead = array.isRead || access.kind != AccessKind::Write;
        array.isWritten = array.isWritten || access.kind != AccessKind::Read;
        if (std::ranges::find(array.roots, rootOf(access)) == array.roots.end())
            array.roots.push_back(rootOf(access));
        return {};
    }

    Gated<void> chooseWords(const Type& type, const NestArray& known, std::int64_t stride,
                            RecordArray& array) const {
        const std::string& name = nameOf(array.variable);
        if (!array.isClass) {
            array.wordBytes = type.elementSize;
        } else {
            array.wordBytes = alignmentOf(known, type);
            const bool isOneLoad =
                known.lanes > 1 && known.scalar != ScalarKind::Unknown && array.wordBytes >= stride;
            if (isOneLoad)
                return refuse("one-load", fmt::format("one load of {} bytes brings a whole "
                                                      "record of {}",
                                                      stride, name));
        }
        if (array.wordBytes != 4 && array.wordBytes != 8 && array.wordBytes != 16)
            return refuse("small-elements",
                          fmt::format("a record of {} cannot be copied by 4, 8 or 16 bytes: it is "
                                      "aligned to less, or the text does not tell to what",
                                      name));
        array.words = stride / array.wordBytes;
        return {};
    }

    /// The alignment of a class; 0 where the text does not tell.
    [[nodiscard]] std::uint32_t alignmentOf(const NestArray& known, const Type& type) const {
        if (known.lanes > 1 && known.scalar != ScalarKind::Unknown) {
            const std::uint32_t scalar = type.elementSize / known.lanes;
            return known.lanes == 3 ? scalar : std::min(type.elementSize, 16U);
        }
        for (const Expr& expr : body_.exprs)
            if (expr.type.size == type.elementSize && expr.type.pointerDepth == 0 &&
                expr.type.scalar == ScalarKind::Unknown && expr.type.alignment > 0 &&
                bareType(expr.type.spelling) == bareType(known.element))
                return expr.type.alignment;
        return type.elementSize % 4 == 0 && type.elementSize % 8 != 0 && hasFieldsOf(known, 4) ? 4
                                                                                               : 0;
    }
    /// Whether an access shows a field of so many bytes, or of a multiple.
    [[nodiscard]] bool hasFieldsOf(const NestArray& known, std::uint32_t bytes) const {
        return std::ranges::any_of(nest_.accesses, [&](const NestAccess& access) {
            return access.array != noId && &nest_.arrays[access.array] == &known &&
                   !access.field.empty() && access.width > 0 && access.width % bytes == 0;
        });
    }

    Gated<std::optional<RecordArray>> checked(RecordArray array) {
        KERNELSKILL_CHECK(findPlaces(context_, found_.guard, array));
        KERNELSKILL_CHECK(requireWholeRecords(array));
        KERNELSKILL_CHECK(requireGain(array));
        return array;
    }

    /// Whether each thread under the guard makes the access.
    [[nodiscard]] bool isUnconditional(const NestAccess& access) const {
        return access.condition.isAlways() &&
               std::ranges::all_of(around(nest_, access.node), [&](NestNodeId id) {
                   const NestNode& node = nest_.node(id);
                   if (const NestLoop* loop = node.loop())
                       return hasConstantRounds(*loop);
                   return node.frame == 0 && found_.guard.holds(node.statement);
               });
    }

    Gated<void> requireWholeRecords(const RecordArray& array) const {
        const std::string& name = nameOf(array.variable);
        std::set<std::int64_t> certain; ///< Words that each thread reads or writes.
        std::set<std::int64_t> stored;
        std::map<std::string, std::int64_t> fields; ///< Stored fields, with their bytes.
        bool isCertain = false;
        const auto reads = [&](const NestAccess& access) {
            return access.kind != AccessKind::Write;
        };
        for (const NestAccess& access : nest_.accesses) {
            if (!goesTo(access, array.variable) || !isUnconditional(access))
                continue;
            isCertain = true;
            for (const std::int64_t offset : recordReach(nest_, access)->offsets) {
                certain.insert(offset / array.wordBytes);
                if (!reads(access))
                    stored.insert(offset / array.wordBytes);
            }
            if (array.isClass && !reads(access))
                fields.emplace(access.field, access.width);
        }
        if (!isCertain)
            return refuse("conditional-records",
                          fmt::format("a condition, or a loop that may make no round, decides "
                                      "which threads need their record of {}",
                                      name));
        const auto whole = static_cast<std::size_t>(array.words);
        if (!array.isClass && (!certain.contains(0) || !certain.contains(array.words - 1)))
            return refuse("record-ends",
                          fmt::format("the last record of {} may end before its {} elements", name,
                                      array.words));
        std::int64_t bytes = 0;
        for (const auto& [field, width] : fields)
            bytes += field.empty() ? array.bytes() : width;
        const bool isStored = array.isClass ? bytes >= array.bytes() : stored.size() == whole;
        if (array.isWritten && !array.isRead && !isStored)
            return refuse("partial-records",
                          fmt::format("not all of a record of {} is stored, and the rest of it has "
                                      "to stay as it is",
                                      name));
        return {};
    }

    Gated<void> requireGain(RecordArray& array) const {
        const std::int64_t bytes = array.bytes();
        const double copied = static_cast<double>(bytes * warpLanes / sectorBytes);
        std::set<std::pair<std::string, std::int64_t>> loads;
        std::set<std::pair<std::string, std::int64_t>> stores;
        double before = 0;
        for (const NestAccess& access : nest_.accesses) {
            if (!goesTo(access, array.variable))
                continue;
            // The compiler splits an access that is wider than its alignment.
            const std::int64_t width = std::min<std::int64_t>(access.width, array.wordBytes);
            for (std::int64_t offset : recordReach(nest_, access)->offsets)
                for (std::int64_t part = 0; part < access.width; part += width, offset += width) {
                    if (access.kind != AccessKind::Write &&
                        loads.emplace(access.field, offset).second)
                        before += sectorsOf(bytes, width);
                    if (access.kind != AccessKind::Read &&
                        stores.emplace(access.field, offset).second)
                        before += sectorsOf(bytes, width);
                }
        }
        array.stores = stores.size();
        array.sectorsBefore = before;
        array.sectorsAfter = copied * ((array.isRead ? 1.0 : 0.0) + (array.isWritten ? 1.0 : 0.0));
        if (array.sectorsBefore < minSectorRatio * array.sectorsAfter)
            return refuse("few-fields",
                          fmt::format("a warp's requests for {} touch {:.0f} sectors, and copying "
                                      "whole records {:.0f}",
                                      nameOf(array.variable), array.sectorsBefore,
                                      array.sectorsAfter));
        return requireLargePart(array);
    }

    /// A long loop over other arrays hides what records cost.
    Gated<void> requireLargePart(const RecordArray& array) const {
        const NestAccess* inLoop = nullptr;
        for (const NestAccess& access : nest_.accesses) {
            if (isThreadsOwn(nest_, access) || access.array == noId ||
                nest_.arrays[access.array].space == MemorySpace::Shared)
                continue;
            if (!isInLongLoop(access.node))
                continue;
            if (goesTo(access, array.variable))
                return {};
            inLoop = &access;
        }
        if (inLoop == nullptr)
            return {};
        return refuse("small-part",
                      fmt::format("the loop around line {} goes to {} more often than the thread "
                                  "to its record of {}",
                                  line(nest_.node(inLoop->node).span),
                                  nest_.arrays[inLoop->array].name, nameOf(array.variable)));
    }
    [[nodiscard]] bool isInLongLoop(NestNodeId node) const {
        return std::ranges::any_of(around(nest_, node), [&](NestNodeId id) {
            const NestLoop* loop = nest_.node(id).loop();
            return loop != nullptr && !hasConstantRounds(*loop);
        });
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const Nest& nest_;
    RecordArrays found_;
    std::optional<Refusal> refused_;
    /// The beginning of the records of a row of threads, by array.
    std::map<VariableId, IndexExpression> begins_;
};

} // namespace

Gated<RecordArrays> recordArrays(const SkillContext& context) {
    return ArrayFinder(context).find();
}

} // namespace kernelskill::skills
