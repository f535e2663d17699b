#include "skills/schedule/statement_roles.h"

#include "analysis/syntax/statement_kinds.h"
#include "skills/gates/block_collective.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

PartOrigin blocksAlong(const SkillContext& context, std::uint8_t axis) {
    const FunctionBody& body = context.kernel.body;
    PartOrigin origin{.kind = PartKind::Blocks,
                      .blockAxis = axis,
                      .root = body.root,
                      .differing = {},
                      .index = noId};
    for (VariableId id = 0; id < body.variables.size(); ++id)
        if (isSharedStorage(body.variable(id)))
            origin.differing.insert(id);
    return origin;
}

PartOrigin warpsOfBlock(const SkillContext& context) {
    return {.kind = PartKind::Warps,
            .blockAxis = 0,
            .root = context.kernel.body.root,
            .differing = {},
            .index = noId};
}

StatementRoles::StatementRoles(const SkillContext& context, PartOrigin origin)
    : context_(context), body_(context.kernel.body), origin_(std::move(origin)),
      differing_(origin_.differing) {
    for (const Barrier& barrier : context.kernel.barriers)
        if (const StmtId at = context.code().statement(barrier.call);
            at != noId && isBlockBarrier(context.kernel, at))
            barriers_.push_back(at);
    // A statement that differs makes what it changes differ, which makes others differ.
    std::size_t known = 0;
    do {
        known = differing_.size();
        classify(origin_.root);
    } while (known != differing_.size());
    findRuns(origin_.root);
}

void StatementRoles::classify(StmtId block) {
    for (const StmtId id : context_.code().statementsOf(block)) {
        const StatementRole role = roles_[id] = findRole(id);
        if (role == StatementRole::Opened) {
            for (const StmtId inside : blocksOf(id))
                classify(inside);
        }
        if (role == StatementRole::Parted)
            std::ranges::copy_if(
                effects_.at(id).writes, std::inserter(differing_, differing_.end()),
                [&](VariableId variable) {
                    return !isGroup(variable) && (origin_.kind != PartKind::Warps ||
                                                  !isSharedStorage(body_.variable(variable)));
                });
    }
}

/// The blocks of code that an opened statement runs.
std::vector<StmtId> StatementRoles::blocksOf(StmtId opened) const {
    const Stmt& stmt = body_.stmt(opened);
    return stmt.kind == StmtKind::Compound ? std::vector{opened} : stmt.children;
}

StatementRole StatementRoles::findRole(StmtId id) {
    const Stmt& stmt = body_.stmt(id);
    const auto known = [&](auto& all, auto read) -> const StatementEffects& {
        auto found = all.find(id);
        if (found == all.end())
            found =
                all.emplace(id, read(context_.file, context_.kernel, context_.code(), id)).first;
        return found->second;
    };
    if (std::ranges::find(barriers_, id) != barriers_.end())
        return StatementRole::Barrier;
    if (isBareDeclaration(stmt))
        return StatementRole::BareDeclaration;
    if (isGroupDeclaration(stmt))
        return StatementRole::OnceDeclaration;
    const bool canBeOpened = canOpen(stmt, id);
    if ((canBeOpened || isLeavingBranch(stmt)) && !differs(known(controls_, controlEffectsOf)))
        return canBeOpened ? StatementRole::Opened : StatementRole::Once;
    if (differs(known(effects_, effectsOf)))
        return StatementRole::Parted;
    return stmt.kind == StmtKind::Declaration ? StatementRole::OnceDeclaration
                                              : StatementRole::Once;
}

/// Whether parts meet inside of the statement, or, as rounds, share a loop there.
bool StatementRoles::canOpen(const Stmt& stmt, StmtId id) const {
    const bool isFollowed = stmt.kind == StmtKind::Compound || stmt.kind == StmtKind::If ||
                            (isLoop(stmt.kind) && stmt.kind != StmtKind::RangeFor);
    if (!isFollowed)
        return false;
    return origin_.kind != PartKind::Rounds
               ? holdsBarrier(id)
               : std::ranges::any_of(context_.code().statementsIn(id),
                                     [&](StmtId in) { return isLoop(body_.stmt(in).kind); });
}

bool StatementRoles::differs(const StatementEffects& effects) const {
    const auto meets = [&](const std::set<VariableId>& variables) {
        return std::ranges::any_of(variables,
                                   [&](VariableId id) { return differing_.contains(id); });
    };
    return asksForPart(effects) || effects.isOpaque || effects.writesShared ||
           meets(effects.reads) || meets(effects.writes);
}

bool StatementRoles::asksForPart(const StatementEffects& effects) const {
    switch (origin_.kind) {
    case PartKind::Blocks:
        return (effects.blockAxes & (1U << origin_.blockAxis)) != 0;
    case PartKind::Warps:
        return effects.asksForThread;
    case PartKind::Rounds:
        return false;
    }
    std::unreachable();
}

bool StatementRoles::isBareDeclaration(const Stmt& stmt) const {
    return stmt.kind == StmtKind::Declaration &&
           std::ranges::all_of(stmt.declared, [&](VariableId id) {
               const Variable& declared = body_.variable(id);
               return isSharedStorage(declared) ||
                      (declared.init == noId && !declared.type.isReference);
           });
}

/// `cg::thread_block block = cg::this_thread_block();` and tiles of it are the same for all parts.
bool StatementRoles::isGroupDeclaration(const Stmt& stmt) const {
    return stmt.kind == StmtKind::Declaration && !stmt.declared.empty() &&
           std::ranges::all_of(stmt.declared, [&](VariableId id) { return isGroup(id); });
}

bool StatementRoles::isGroup(VariableId id) const {
    const std::string& type = body_.variable(id).type.canonical;
    return type.contains("cooperative_groups::") && !type.contains("grid_group");
}

/// `if (...) return;` without anything else.
bool StatementRoles::isLeavingBranch(const Stmt& stmt) const {
    if (origin_.kind == PartKind::Rounds || stmt.kind != StmtKind::If || stmt.children.size() != 1)
        return false;
    const std::vector<StmtId> inside = context_.code().statementsOf(stmt.children.front());
    return inside.size() == 1 && body_.stmt(inside.front()).kind == StmtKind::Return;
}

bool StatementRoles::holdsBarrier(StmtId statement) const {
    return std::ranges::any_of(
        barriers_, [&](StmtId barrier) { return context_.code().encloses(statement, barrier); });
}

void StatementRoles::findRuns(StmtId block) {
    std::vector<RoledStatement> run;
    std::size_t length = 0; // Up to the last parted statement.
    const auto end = [&] {
        run.resize(length);
        if (!run.empty())
            addRun(run);
        run.clear();
        length = 0;
    };
    for (const StmtId id : context_.code().statementsOf(block)) {
        const StatementRole role = roles_.at(id);
        switch (role) {
        case StatementRole::Parted:
            run.push_back({id, role});
            length = run.size();
            break;
        case StatementRole::OnceDeclaration:
        case StatementRole::BareDeclaration:
            if (length > 0)
                run.push_back({id, role});
            break;
        case StatementRole::Barrier:
            ++commonBarriers_;
            end();
            break;
        case StatementRole::Once:
            end();
            break;
        case StatementRole::Opened:
            end();
            for (const StmtId inside : blocksOf(id))
                findRuns(inside);
            break;
        }
    }
    const bool hasRun = length > 0;
    end();
    if (hasRun && block == origin_.root)
        runs_.back().isLast = true;
}

void StatementRoles::addRun(std::vector<RoledStatement> run) {
    for (const RoledStatement& each : run)
        runOf_[each.statement] = runs_.size();
    runs_.push_back({std::move(run)});
}

std::optional<StatementRole> StatementRoles::roleOf(StmtId statement) const {
    const auto found = roles_.find(statement);
    return found == roles_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::size_t> StatementRoles::runOf(StmtId statement) const {
    for (; statement != noId; statement = body_.stmt(statement).parent)
        if (const auto found = runOf_.find(statement); found != runOf_.end())
            return found->second;
    return std::nullopt;
}

} // namespace kernelskill::skills
