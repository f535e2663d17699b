#include "analysis/raise/uses.h"

#include "analysis/raise/rewrite.h"

#include <algorithm>
#include <set>

namespace kernelskill::analysis::raise {

namespace {

using Visit = std::function<void(BufferId buffer, bool saysPlace)>;

void visitReads(const Scalar& value, bool saysPlace, const Visit& visit);

/// The buffers that say where: in the integers that an index reads.
void visitReads(const Index& index, const Visit& visit) {
    for (const auto& [key, monomial] : index.terms())
        for (const Index::AtomRef& atom : monomial.atoms) {
            if (atom->data != nullptr)
                visitReads(atom->data, true, visit);
            if (atom->left != nullptr) {
                visitReads(*atom->left, visit);
                visitReads(*atom->right, visit);
            }
        }
}

void visitReads(const Scalar& value, bool saysPlace, const Visit& visit) {
    forEachNode(value, [&](const ScalarNode& node) {
        if (node.kind == ScalarNode::Kind::Load)
            visit(node.buffer, saysPlace);
        visitReads(node.index, visit);
        for (const Index& at : node.position)
            visitReads(at, visit);
    });
}

} // namespace

void forEachRead(const Scalar& value, const Visit& visit) {
    visitReads(value, false, visit);
}

namespace {

/// Calls `visit` for each buffer that the step reads; those of libraries say places.
void visitReads(const Step& step, const Visit& visit) {
    if (const auto* call = std::get_if<LibraryCall>(&step)) {
        for (const BufferId buffer : call->inputs)
            visit(buffer, true);
        return;
    }
    const auto& computation = std::get<Computation>(step);
    for (const Scalar& root : rootsOf(computation))
        visitReads(root, false, visit);
    for (const Store& store : computation.stores)
        for (const Index& at : store.position)
            visitReads(at, visit);
}

} // namespace

std::set<BufferId> readsOf(const Step& step) {
    std::set<BufferId> reads;
    visitReads(step, [&](BufferId buffer, bool) { reads.insert(buffer); });
    return reads;
}

std::set<BufferId> writesOf(const Step& step) {
    std::set<BufferId> writes;
    if (const auto* call = std::get_if<LibraryCall>(&step))
        writes.insert(call->outputs.begin(), call->outputs.end());
    else
        for (const Store& store : std::get<Computation>(step).stores)
            writes.insert(store.buffer);
    return writes;
}

Uses::Uses(const Program& program)
    : stores_(program.buffers.size()), readers_(program.buffers.size()),
      isPlain_(program.buffers.size(), true), reads_(program.steps.size()),
      writes_(program.steps.size()),
      needs_(program.steps.size(), std::vector<bool>(program.steps.size())) {
    for (std::size_t step = 0; step < program.steps.size(); ++step) {
        visitReads(program.steps[step], [&](BufferId buffer, bool saysPlace) {
            if (saysPlace)
                isPlain_[buffer] = false;
        });
        const std::set<BufferId> reads = readsOf(program.steps[step]);
        const std::set<BufferId> writes = writesOf(program.steps[step]);
        reads_[step].assign(reads.begin(), reads.end());
        writes_[step].assign(writes.begin(), writes.end());
        if (const auto* computation = std::get_if<Computation>(&program.steps[step]))
            for (std::size_t i = 0; i < computation->stores.size(); ++i)
                stores_[computation->stores[i].buffer].push_back({step, i});
        else // Twice, so that no store of a computation is the only one.
            for (const BufferId buffer : writes)
                stores_[buffer].insert(stores_[buffer].end(), 2, {step, 0});
        needs_[step][step] = true;
        for (const BufferId buffer : reads) {
            readers_[buffer].push_back(step);
            for (const StorePlace& place : stores_[buffer])
                for (std::size_t other = 0; other < step; ++other)
                    if (needs_[place.step][other])
                        needs_[step][other] = true;
        }
    }
}

std::optional<StorePlace> Uses::writer(BufferId buffer) const {
    const std::vector<StorePlace>& stores = stores_.at(buffer);
    return stores.size() == 1 ? std::optional(stores.front()) : std::nullopt;
}

bool Uses::depends(std::size_t step, std::size_t on) const {
    return needs_.at(step).at(on);
}

bool Uses::bufferDepends(BufferId buffer, std::size_t on) const {
    return std::ranges::any_of(stores_.at(buffer),
                               [&](const StorePlace& place) { return depends(place.step, on); });
}

} // namespace kernelskill::analysis::raise
