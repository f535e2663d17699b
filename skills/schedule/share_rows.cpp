#include "skills/schedule/share_rows.h"

#include "analysis/source/gpu_constants.h"
#include "skills/editing/grid_size.h"
#include "skills/schedule/promote.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>

namespace kernelskill::skills {

using namespace analysis;

namespace {

std::string identityOf(const LaneFold& fold) {
    const std::string suffix = fold.scalar == ScalarKind::Float    ? ".0f"
                               : fold.scalar == ScalarKind::Double ? ".0"
                                                                   : "";
    return (fold.op == "*" ? "1" : "0") + suffix;
}

/// A second part of the same value changes nothing: lanes need not begin with an identity.
bool isIdempotent(const LaneFold& fold) {
    return fold.op == "min" || fold.op == "max" || fold.op == "&" || fold.op == "|";
}

class RowWriter {
public:
    RowWriter(Draft& draft, const SkillContext& context, const LaneRows& rows)
        : draft_(draft), context_(context), rows_(rows), body_(context.kernel.body),
          unit_(draft.layout().unit()), lane_(freshName(body_, "lane")),
          offset_(freshName(body_, "offset")) {}

    void write() {
        const Variable& row = body_.variable(rows_.row);
        draft_.replace(
            body_.expr(row.init).span,
            fmt::format("blockIdx.x * (blockDim.x / {0}) + threadIdx.x / {0}", warpLanes));
        draft_.after(context_.code().declarationOf(rows_.row),
                     {fmt::format("const int {} = threadIdx.x % {};", lane_, warpLanes)});
        for (std::size_t i = 0; i < rows_.kept.size(); ++i)
            promote(draft_, context_, rows_.kept[i], rows_.names[i]);
        for (const LaneLoop& loop : rows_.loops)
            share(loop);
        const std::string isFirst = fmt::format("{} == 0", lane_);
        storeBack(draft_, rows_.kept, rows_.names, isFirst);
        for (const StmtId store : rows_.stores) {
            const std::uint32_t begin = body_.stmt(store).span.begin;
            draft_.replace({begin, begin},
                           fmt::format("if ({}){}{}{}", isFirst, draft_.layout().newline(),
                                       draft_.layout().indentation(begin), unit_));
        }
        for (const LaunchSite& launch : context_.kernel.launches) {
            TextEdit grid = multipliedGrid(context_, launch, warpLanes);
            draft_.replace(grid.span, std::move(grid.newText));
        }
    }

private:
    void share(const LaneLoop& shared) {
        const Loop& loop = context_.kernel.loops[shared.loop];
        const Span lower = body_.expr(loop.lowerBound).span;
        const std::string from{context_.file.source->slice(lower)};
        draft_.replace(lower, context_.code().constantValue(loop.lowerBound) == 0
                                  ? lane_
                                  : fmt::format("{} + {}", from, lane_));
        draft_.replace(
            body_.expr(body_.stmt(shared.statement).increment).span,
            fmt::format("{} += {}", body_.variable(loop.inductionVariable).name, warpLanes));
        std::vector<std::string> resets;
        std::vector<std::string> folds;
        for (const LaneFold& fold : shared.folds) {
            if (!isIdempotent(fold) && !fold.startsNeutral)
                resets.push_back(fmt::format("{} = {};", fold.name, identityOf(fold)));
            folds.push_back(foldLine(fold));
        }
        for (const ExtremeFold& fold : shared.extremes)
            for (std::string& line : foldLines(fold))
                folds.push_back(std::move(line));
        if (shared.syncsBefore)
            draft_.before(shared.statement, {"__syncwarp();"});
        if (!resets.empty())
            draft_.before(shared.statement,
                          draft_.controlled(fmt::format("if ({} != 0)", lane_), std::move(resets)));
        if (!folds.empty())
            draft_.after(shared.statement,
                         draft_.controlled(fmt::format("for (int {0} = {1}; {0} > 0; {0} /= 2)",
                                                       offset_, warpLanes / 2),
                                           std::move(folds)));
        if (shared.syncsAfter)
            draft_.after(shared.statement, {"__syncwarp();"});
    }

    /// The value of the lane whose number differs in one bit.
    [[nodiscard]] std::string otherLane(const std::string& name) const {
        return fmt::format("__shfl_xor_sync(0xffffffff, {}, {})", name, offset_);
    }

    [[nodiscard]] std::string foldLine(const LaneFold& fold) const {
        const std::string value = otherLane(fold.name);
        if (fold.op != "min" && fold.op != "max")
            return fmt::format("{} {}= {};", fold.name, fold.op, value);
        const std::string function = fold.scalar == ScalarKind::Float    ? "f" + fold.op + "f"
                                     : fold.scalar == ScalarKind::Double ? "f" + fold.op
                                                                         : fold.op;
        return fmt::format("{0} = {1}({0}, {2});", fold.name, function, value);
    }

    /// Among equal values the first place is found by ">" and "<", the last by ">=" and "<=".
    [[nodiscard]] std::vector<std::string> foldLines(const ExtremeFold& fold) const {
        const Variable& best = body_.variable(fold.best);
        const std::string strict = fold.comparison.substr(0, 1);
        const auto other = [&](const Variable& variable) {
            std::string name = variable.name;
            name.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
            return freshName(body_, "other" + name);
        };
        const std::string value = other(best);
        std::vector<std::string> lines{
            fmt::format("const {} {} = {};", best.type.spelling, value, otherLane(best.name))};
        if (fold.place == noId) {
            lines.push_back(fmt::format("if ({} {} {})", value, strict, best.name));
            lines.push_back(unit_ + fmt::format("{} = {};", best.name, value));
            return lines;
        }
        const Variable& place = body_.variable(fold.place);
        const std::string where = other(place);
        lines.push_back(
            fmt::format("const {} {} = {};", place.type.spelling, where, otherLane(place.name)));
        lines.push_back(fmt::format("if ({0} {1} {2} || ({0} == {2} && {3} {4} {5})) {{", value,
                                    strict, best.name, where,
                                    fold.comparison.size() == 1 ? "<" : ">", place.name));
        lines.push_back(unit_ + fmt::format("{} = {};", best.name, value));
        lines.push_back(unit_ + fmt::format("{} = {};", place.name, where));
        lines.emplace_back("}");
        return lines;
    }

    Draft& draft_;
    const SkillContext& context_;
    const LaneRows& rows_;
    const FunctionBody& body_;
    std::string unit_;
    std::string lane_;
    std::string offset_;
};

} // namespace

bool reassociates(const LaneRows& rows) {
    return std::ranges::any_of(rows.loops, [](const LaneLoop& loop) {
        return std::ranges::any_of(loop.folds, [](const LaneFold& fold) {
            return (fold.scalar == ScalarKind::Float || fold.scalar == ScalarKind::Double) &&
                   !isIdempotent(fold);
        });
    });
}

void shareRows(Draft& draft, const SkillContext& context, const LaneRows& rows) {
    RowWriter(draft, context, rows).write();
}

} // namespace kernelskill::skills
