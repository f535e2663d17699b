#include "lsp-server/report/nest_json.h"

#include "analysis/nest/nest_text.h"
#include "analysis/nest/understanding.h"
#include "analysis/source/json.h"

namespace kernelskill::lsp {

namespace {

using analysis::AccessKind;
using analysis::Nest;
using analysis::NestAccess;
using nlohmann::json;

const char* accessKindName(AccessKind kind) {
    switch (kind) {
    case AccessKind::Read:
        return "read";
    case AccessKind::Write:
        return "write";
    case AccessKind::ReadWrite:
        return "update";
    case AccessKind::Atomic:
        return "atomic";
    }
    return "";
}

class NestJson {
public:
    NestJson(const Nest& nest, const analysis::FileModel& file, const analysis::KernelModel& kernel)
        : nest_(nest), file_(file), kernel_(kernel) {}

    json write() const {
        json block = json::array();
        for (const auto& size : nest_.extents.block)
            block.push_back(size ? json(*size) : json(nullptr));
        json arrays = json::array();
        for (const analysis::NestArray& array : nest_.arrays)
            arrays.push_back({{"name", array.name},
                              {"space", analysis::spaceName(array.space)},
                              {"element", array.element},
                              {"bytes", array.elementSize},
                              {"extents", array.extents},
                              {"variable", array.isVariable}});
        return {{"kernel", nest_.kernel},      {"line", lineOf(kernel_, kernel_.span)},
                {"block", std::move(block)},   {"arrays", std::move(arrays)},
                {"nodes", nodes(nest_.roots)}, {"understood", understanding()}};
    }

private:
    [[nodiscard]] json understanding() const {
        const analysis::NestUnderstanding found = analysis::understandingOf(nest_);
        return {{"statements", found.statements},
                {"opaque", found.opaque},
                {"hot", found.hot},
                {"hotOpaque", found.hotOpaque},
                {"hotIndirect", found.hotIndirect},
                {"reasons", found.reasons}};
    }

    [[nodiscard]] json lineOf(const analysis::KernelModel& function, analysis::Span span) const {
        if (function.file != file_.file || file_.source == nullptr)
            return nullptr;
        return file_.source->lineColumn(span.begin).line + 1;
    }

    [[nodiscard]] json nodes(const std::vector<analysis::NestNodeId>& ids) const {
        json result = json::array();
        for (const analysis::NestNodeId id : ids)
            result.push_back(node(nest_.node(id)));
        return result;
    }

    [[nodiscard]] json node(const analysis::NestNode& node) const {
        const auto& function = functionOf(file_, kernel_, nest_.frames[node.frame]);
        json result{{"line", lineOf(function, node.span)}, {"function", function.qualifiedName}};
        if (const analysis::NestLoop* loop = node.loop())
            result.update(loopJson(*loop));
        else if (const analysis::NestGuard* guard = node.guard())
            result.update({{"kind", "guard"},
                           {"condition", nest_.symbols.describe(guard->condition)},
                           {"exit", guard->isExit}});
        else if (const analysis::NestBarrier* barrier = node.barrier())
            result.update({{"kind", "barrier"}, {"name", analysis::barrierName(barrier->kind)}});
        else
            result.update(statementJson(*node.computation()));
        if (!node.children.empty())
            result["nodes"] = nodes(node.children);
        return result;
    }

    [[nodiscard]] json expression(const std::optional<analysis::IndexExpression>& value) const {
        return value ? json(nest_.symbols.describe(*value)) : json(nullptr);
    }

    [[nodiscard]] json loopJson(const analysis::NestLoop& loop) const {
        json result{{"kind", "loop"},
                    {"style", analysis::styleName(loop.style)},
                    {"iterator", nest_.symbols.nameOf(loop.iterator)},
                    {"first", expression(loop.first)},
                    {"end", expression(loop.end)},
                    {"step", expression(loop.step)},
                    {"downward", loop.isDownward},
                    {"mayStop", loop.mayStop}};
        if (!loop.unknown.empty())
            result["unknown"] = loop.unknown;
        return result;
    }

    [[nodiscard]] json statementJson(const analysis::NestStatement& statement) const {
        json accesses = json::array();
        for (const analysis::NestAccessId id : statement.accesses)
            accesses.push_back(accessJson(nest_.accesses[id]));
        const bool isTest = statement.kind == analysis::NestStatementKind::Test;
        json result{{"kind", isTest ? "test" : "statement"}, {"accesses", std::move(accesses)}};
        if (!statement.reduction.empty())
            result["reduction"] = statement.reduction;
        if (!statement.exchange.empty())
            result["exchange"] = statement.exchange;
        if (!statement.opaque.empty())
            result["opaque"] = statement.opaque;
        return result;
    }

    [[nodiscard]] json accessJson(const NestAccess& access) const {
        json subscripts = json::array();
        for (const analysis::NestSubscript& subscript : access.subscripts)
            subscripts.push_back({{"index", nest_.symbols.describe(subscript.index)},
                                  {"extent", expression(subscript.extent)}});
        json assumptions = json::array();
        for (const analysis::NestCondition& assumption : access.assumptions)
            assumptions.push_back(nest_.symbols.describe(assumption));
        json result{{"kind", accessKindName(access.kind)},
                    {"array", access.array == analysis::noId
                                  ? json(nullptr)
                                  : json(nest_.arrays[access.array].name)},
                    {"text", accessText(nest_, access)},
                    {"bytes", access.width},
                    {"form", analysis::formName(access.form)},
                    {"subscripts", std::move(subscripts)},
                    {"assumptions", std::move(assumptions)}};
        if (!access.condition.isAlways())
            result["condition"] = nest_.symbols.describe(access.condition);
        if (!access.reason.empty())
            result["reason"] = access.reason;
        return result;
    }

    const Nest& nest_;
    const analysis::FileModel& file_;
    const analysis::KernelModel& kernel_;
};

} // namespace

json nestJson(const Nest& nest, const analysis::FileModel& file,
              const analysis::KernelModel& kernel) {
    return NestJson(nest, file, kernel).write();
}

json dependencesJson(const Nest& nest, const analysis::NestDependences& dependences) {
    json pairs = json::array();
    for (const analysis::NestDependence& found : dependences.dependences) {
        const bool isLikely = found.independence == analysis::NestCertainty::Likely;
        json pair{{"from", accessText(nest, nest.accesses[found.from])},
                  {"to", accessText(nest, nest.accesses[found.to])},
                  {"kind", analysis::dependenceName(found.kind)},
                  {"carrier", analysis::carrierText(nest, found.carrier)},
                  {"independence", isLikely ? "likely" : "broken"},
                  {"synchronised", found.isSynchronised},
                  {"reduction", found.isReduction}};
        if (isLikely)
            pair["conditions"] = found.conditions;
        else
            pair["reason"] = found.reason;
        pairs.push_back(std::move(pair));
    }
    json overlaps = json::array();
    for (const analysis::NestOverlap& overlap : dependences.overlaps)
        overlaps.push_back({nest.arrays[overlap.first].name, nest.arrays[overlap.second].name});
    return {{"pairs", std::move(pairs)},
            {"overlaps", std::move(overlaps)},
            {"complete", dependences.isComplete}};
}

} // namespace kernelskill::lsp
