#include "skills/stream-overlap/stream_place.h"

#include "analysis/queries/host_statements.h"
#include "analysis/queries/source_layout.h"
#include "skills/base/gates.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

bool isLoop(StmtKind kind) {
    return kind == StmtKind::For || kind == StmtKind::While || kind == StmtKind::Do;
}

/// The last of the checks for errors that follow `last` in its block, or `last`.
StmtId withChecks(const SkillContext& context, const FunctionBody& body, const SourceLayout& layout,
                  StmtId last) {
    const auto& block = body.stmt(body.stmt(last).parent).children;
    const auto self = std::ranges::find(block, last);
    for (auto next = self; next != block.end(); ++next) {
        const Stmt& stmt = body.stmt(*next);
        const bool isOwnLine = layout.startsLine(stmt.span.begin) && layout.endsLine(stmt.span.end);
        if (next != self && (!isErrorCheck(*context.file.source, stmt) || !isOwnLine))
            break;
        last = *next;
    }
    return last;
}

} // namespace

Gated<void> requireNoStreams(const SkillContext& context, std::uint32_t host) {
    for (const Expr& expr : context.file.hostFunctions[host].body.exprs)
        if (expr.kind == ExprKind::Call &&
            (expr.name.contains("cudaStreamCreate") || expr.name.contains("BeginCapture") ||
             expr.name.contains("cudaGraph")))
            return refuse("has-streams", fmt::format("line {} makes streams or graphs already",
                                                     lineNumber(context, expr.span.begin)));
    return {};
}

Gated<ExprId> plainStream(const CodeMap& code, ExprId stream, std::uint32_t line) {
    if (isDefaultStream(code, stream))
        return noId;
    const FunctionBody& body = code.body();
    const VariableId named = code.namedVariable(stream);
    const bool isPlain = named != noId && !body.expr(stream).fromMacro &&
                         (body.variable(named).storage == Storage::Local ||
                          body.variable(named).storage == Storage::Parameter) &&
                         !body.variable(named).type.isReference;
    if (!isPlain)
        return refuse("stream-not-plain", fmt::format("which stream the work on line {} is in is "
                                                      "not told by a variable of the function",
                                                      line));
    return stream;
}

Gated<StreamPlace> placeOf(const SkillContext& context, std::uint32_t host, ExprId stream,
                           const std::vector<StmtId>& statements) {
    const CodeMap& code = context.shared().host(host);
    const FunctionBody& body = code.body();
    StreamPlace place{host, statements.front(), statements.back(), noId, stream};
    const std::uint32_t line = lineNumber(context, body.stmt(place.first).span.begin);
    for (StmtId id = body.stmt(place.first).parent; id != noId; id = body.stmt(id).parent) {
        const Stmt& stmt = body.stmt(id);
        if (stmt.fromMacro ||
            (!isLoop(stmt.kind) && stmt.kind != StmtKind::Compound && stmt.kind != StmtKind::If))
            return refuse(
                "not-followed",
                fmt::format("how often the work on line {} is done is not followed", line));
        if (isLoop(stmt.kind))
            place.loop = id;
    }
    const SourceLayout layout(*context.file.source, context.kernel);
    const auto ownsItsLines = [&](StmtId id) {
        const Span span = body.stmt(id).span;
        return layout.startsLine(span.begin) && layout.endsLine(span.end);
    };
    bool isAlone = std::ranges::all_of(statements, ownsItsLines);
    if (place.loop != noId) {
        const StmtId parent = body.stmt(place.loop).parent;
        isAlone = isAlone && ownsItsLines(place.loop) && parent != noId &&
                  body.stmt(parent).kind == StmtKind::Compound;
        for (const StmtId id : code.statementsIn(place.loop)) {
            const StmtKind kind = body.stmt(id).kind;
            if (kind == StmtKind::Return || kind == StmtKind::Goto)
                return refuse("leaves-the-loop",
                              fmt::format("line {} leaves the loop, past where its streams would "
                                          "be destroyed",
                                          lineNumber(context, body.stmt(id).span.begin)));
        }
        const VariableId named = stream == noId ? noId : code.namedVariable(stream);
        if (named != noId && code.isEverWritten(named))
            return refuse("stream-not-plain", "the loop's stream may be another in each round");
    }
    if (!isAlone)
        return refuse("shares-line", fmt::format("the work on line {}, or the loop around it, "
                                                 "shares a line with other code",
                                                 line));
    place.last = withChecks(context, body, layout, place.last);
    return place;
}

} // namespace kernelskill::skills
