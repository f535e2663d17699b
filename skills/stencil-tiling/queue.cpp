#include "skills/stencil-tiling/queue.h"

#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/aliasing.h"
#include "skills/schedule/fold_text.h"
#include "skills/schedule/nest_queries.h"
#include "skills/schedule/threads_apart.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <set>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// More live values cost the threads that hide latency.
constexpr std::size_t maxRegisters = 36;

bool leaves(StmtKind kind) {
    return kind == StmtKind::Break || kind == StmtKind::Continue || kind == StmtKind::Return ||
           kind == StmtKind::Goto || kind == StmtKind::Asm || kind == StmtKind::Other;
}

class QueueFinder {
public:
    QueueFinder(const SkillContext& context, const RoundCounter& counter,
                std::span<const StmtId> statements)
        : context_(context), nest_(context.shared().nest()), code_(context.code()),
          body_(code_.body()), layout_(*context.file.source, context.kernel), counter_(counter),
          statements_(statements) {}

    Gated<Queues> find() {
        KERNELSKILL_CHECK(requireKnownEffects(context_));
        std::optional<Refusal> refusal;
        for (NeighbourLoads& group : neighbourLoads(context_, counter_, statements_)) {
            auto queue = queueOf(group);
            if (queue)
                queues_.all.push_back(std::move(*queue));
            else if (!refusal)
                refusal = std::move(queue.error());
        }
        if (queues_.all.empty())
            return refusal ? std::unexpected(std::move(*refusal))
                           : refuse("no-neighbours",
                                    fmt::format("no round of {} loads what the next one loads "
                                                "again",
                                                context_.kernel.name));
        if (queues_.registers() > maxRegisters)
            return refuse(
                "too-many-registers",
                fmt::format("{} values would have to stay in registers", queues_.registers()));
        nameRegisters();
        countLoads();
        return std::move(queues_);
    }

private:
    [[nodiscard]] std::uint32_t lineOf(StmtId stmt) const {
        return lineNumber(context_, body_.stmt(stmt).span.begin);
    }

    /// Whether the elements stay as they are while the kernel runs.
    Gated<void> requireUnchanged(NestArrayId array) const {
        const NestArray& read = nest_.arrays[array];
        std::set<NestArrayId> seen;
        for (const NestAccess& access : nest_.accesses) {
            if (access.kind == AccessKind::Read ||
                (access.array != noId && !seen.insert(access.array).second))
                continue;
            if (access.array == noId)
                return refuse("may-alias",
                              fmt::format("line {} writes to a place that is not "
                                          "followed, which may be of {}",
                                          lineNumber(context_, placeOf(access).begin), read.name));
            const NestArray& written = nest_.arrays[access.array];
            if (isThreadsOwn(written) || differInSpace(read, written))
                continue;
            if (access.array == array)
                return refuse("array-written",
                              fmt::format("{} writes {} on line {}, so that what was loaded before "
                                          "may be old",
                                          context_.kernel.name, read.name,
                                          lineNumber(context_, placeOf(access).begin)));
            if (differInType(read, written) || (read.isRestrict && written.isRestrict))
                continue;
            KERNELSKILL_CHECK(requireDistinctMemory(context_, read.variable, written.variable));
        }
        return {};
    }

    [[nodiscard]] Span placeOf(const NestAccess& access) const {
        return nest_.node(access.node).span;
    }

    Gated<Queue> queueOf(NeighbourLoads& group) const {
        const NestArray& array = nest_.arrays[group.array];
        Queue queue{std::move(group), withoutConst(array.element), {}, noId};
        const NeighbourLoads& loads = queue.group;
        queue.place = plainHolder(code_, statements_, loads.loads.front().expression);
        const StmtId last = plainHolder(code_, statements_, loads.loads.back().expression);
        if (queue.type.empty())
            return refuse("unknown-type",
                          fmt::format("the type of {}'s elements is not known", array.name));
        if (body_.variable(array.variable).type.isVolatile)
            return refuse("unknown-effects", fmt::format("{} is volatile", array.name));
        KERNELSKILL_CHECK(requireUnchanged(queue.group.array));
        if (!hasOwnLines(body_, layout_, queue.place, queue.place))
            return refuse("several-statements-a-line",
                          fmt::format("line {} holds more than the statement that loads {}",
                                      lineOf(queue.place), array.name));
        KERNELSKILL_CHECK(requireSteady(queue, last));
        return queue;
    }

    /// No statement before the loads ends the round, and none between them changes what their text
    /// means.
    Gated<void> requireSteady(const Queue& queue, StmtId last) const {
        const auto from = std::ranges::find(statements_, queue.place);
        const auto to = std::ranges::find(statements_, last);
        for (auto at = statements_.begin(); at != to; ++at)
            for (const StmtId inner : code_.statementsIn(*at))
                if (leaves(body_.stmt(inner).kind))
                    return refuse("early-exit",
                                  fmt::format("line {} may end a round before it loads {}",
                                              lineOf(inner), nest_.arrays[queue.group.array].name));
        std::set<VariableId> named;
        for (const NeighbourLoad& load : queue.group.loads)
            for (const ExprId id : code_.expressionsBelow(load.expression))
                if (body_.expr(id).kind == ExprKind::Variable && body_.expr(id).variable != noId)
                    named.insert(body_.expr(id).variable);
        for (const VariableId variable : named)
            for (auto at = from; at != to + 1; ++at) {
                const bool isNew = code_.declarationOf(variable) != noId &&
                                   code_.encloses(*at, code_.declarationOf(variable));
                if (isNew || std::ranges::any_of(code_.uses(variable), [&](ExprId use) {
                        return code_.isWrite(use) && code_.holds(*at, use);
                    }))
                    return refuse("changed-index",
                                  fmt::format("{} is set on line {}, between the loads that need "
                                              "it",
                                              body_.variable(variable).name, lineOf(*at)));
            }
        return {};
    }

    /// Names the registers after the arrays: in0, in1, in2.
    void nameRegisters() {
        std::map<NestArrayId, std::size_t> needed;
        for (const Queue& queue : queues_.all)
            needed[queue.group.array] += static_cast<std::size_t>(queue.group.saved() + 1);
        std::map<NestArrayId, std::string> bases;
        for (const auto& [array, count] : needed) {
            std::string base = nest_.arrays[array].name;
            std::ranges::replace(base, '.', '_');
            const auto isTaken = [&](const std::string& name) {
                for (std::size_t i = 0; i < count; ++i)
                    if (!isNameFree(body_, fmt::format("{}{}", name, i)))
                        return true;
                return false;
            };
            while (isTaken(base))
                base += base.contains('_') ? "_value" : "Value";
            bases[array] = base;
        }
        std::map<NestArrayId, std::size_t> next;
        for (Queue& queue : queues_.all)
            for (int step = queue.group.first; step <= queue.group.last; ++step)
                queue.names.push_back(
                    fmt::format("{}{}", bases[queue.group.array], next[queue.group.array]++));
    }

    /// Counts the global loads of a round, each address once.
    void countLoads() {
        std::vector<const NestAccess*> seen;
        for (const NestAccess& access : nest_.accesses) {
            if (access.frame != 0 || access.kind != AccessKind::Read || access.array == noId ||
                isThreadsOwn(nest_, access) || access.expression == noId ||
                nest_.arrays[access.array].space != MemorySpace::Global ||
                std::ranges::none_of(
                    statements_, [&](StmtId stmt) { return code_.holds(stmt, access.expression); }))
                continue;
            const bool isKnown = std::ranges::any_of(seen, [&](const NestAccess* other) {
                return access.index && other->array == access.array && other->index == access.index;
            });
            if (!isKnown)
                seen.push_back(&access);
        }
        queues_.before = static_cast<int>(seen.size());
        queues_.after = queues_.before;
        for (const Queue& queue : queues_.all)
            queues_.after -= queue.group.saved();
    }

    const SkillContext& context_;
    const Nest& nest_;
    const CodeMap& code_;
    const FunctionBody& body_;
    SourceLayout layout_;
    const RoundCounter& counter_;
    std::span<const StmtId> statements_;
    Queues queues_;
};

} // namespace

std::size_t Queues::registers() const {
    std::size_t count = 0;
    for (const Queue& queue : all)
        count += static_cast<std::size_t>(queue.group.saved() + 1);
    return count;
}

Gated<Queues> queuesOf(const SkillContext& context, const RoundCounter& counter,
                       std::span<const StmtId> statements) {
    return QueueFinder(context, counter, statements).find();
}

std::vector<std::string> queueDeclarations(const Queues& queues) {
    std::vector<std::string> lines;
    for (const Queue& queue : queues.all) {
        std::string line = queue.type;
        // With a step left out, the first rounds move what nothing was loaded into.
        const std::string_view value = queue.group.hasAllSteps() ? "" : " = 0";
        for (const std::string& name : queue.names)
            line += fmt::format("{} {}{}", &name == queue.names.data() ? "" : ",", name, value);
        lines.push_back(line + ";");
    }
    return lines;
}

void queue(Draft& draft, const SkillContext& context, const Queues& queues,
           const FirstRound& first) {
    const auto load = [&](const Queue& each, int step, int into) {
        return fmt::format("{} = {};", each.nameOf(into),
                           context.file.source->slice(each.group.at(step)->text));
    };
    std::map<StmtId, std::vector<const Queue*>> places;
    for (const Queue& each : queues.all)
        places[each.place].push_back(&each);
    for (const auto& [place, here] : places) {
        std::vector<std::string> filling;
        std::vector<std::string> moving;
        std::map<int, std::vector<std::string>> refilling; // By the rounds that need it.
        for (const Queue* each : here) {
            const NeighbourLoads& group = each->group;
            for (int step = group.first; step < group.last; ++step) {
                moving.push_back(
                    fmt::format("{} = {};", each->nameOf(step), each->nameOf(step + 1)));
                if (group.hasAllSteps())
                    filling.push_back(load(*each, step, step + 1));
                else if (group.at(step) != nullptr)
                    refilling[group.last - step].push_back(load(*each, step, step));
            }
            moving.push_back(load(*each, group.last, group.last));
        }
        if (!filling.empty())
            draft.before(place,
                         draft.controlled(fmt::format("if ({} == {})", first.counter, first.value),
                                          std::move(filling)));
        draft.before(place, moving);
        for (auto& [rounds, lines] : refilling)
            draft.before(place, draft.controlled(fmt::format("if ({} < {} + {})", first.counter,
                                                             first.value, rounds * first.step),
                                                 std::move(lines)));
    }
    for (const Queue& each : queues.all)
        for (const NeighbourLoad& load : each.group.loads)
            draft.replace(load.text, each.nameOf(load.step));
}

} // namespace kernelskill::skills
