#include "engine/graph/kernels/row_kernel.h"

#include "analysis/compile/data_centre_gpu.h"
#include "analysis/raise/cost.h"
#include "analysis/raise/merged_axes.h"
#include "engine/graph/kernels/cuda_text.h"
#include "engine/graph/kernels/kept_elements.h"
#include "engine/graph/kernels/kernel_draft.h"
#include "engine/graph/kernels/normaliser.h"
#include "engine/graph/kernels/vector_accesses.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

using analysis::raise::Axis;
using analysis::raise::BufferId;
using analysis::raise::Computation;
using analysis::raise::Index;
using analysis::raise::Program;
using analysis::raise::Reducer;
using analysis::raise::Reduction;
using analysis::raise::Scalar;
using analysis::raise::ScalarNode;
using analysis::raise::Store;

constexpr std::size_t smallBlock =
    256; ///< Threads of a block whose rows have a thread or a warp each.

/// The terms that a thread adds up in a partial sum before it adds that to its sum. Added to a
/// large sum, equal terms, such as the zeros of a ReLU, would all be rounded in the same direction.
constexpr std::int64_t termsOfAPart = 64;
/// The min number of terms of a thread that are added up in partial sums.
constexpr std::int64_t manyTerms = 4 * termsOfAPart;

bool isRoundedSum(const Reduction& reduction) {
    return reduction.reducer == Reducer::Sum &&
           analysis::raise::isFloating(computedType(reduction.type));
}

std::vector<Computation> computationsOf(const RowProgram& rows) {
    std::vector<Computation> all;
    for (const RowPass& pass : rows.passes)
        all.push_back(pass.computation);
    return all;
}

class RowWriting {
public:
    RowWriting(const Program& program, const RowProgram& rows, const RowSchedule& schedule)
        : program_(program), rows_(rows), schedule_(schedule), computations_(computationsOf(rows)),
          kept_(keptElementsOf(program, rows)), kernel_(draftOf(program, computations_)),
          text_(program, widthOfIndices()) {
        if (schedule.keptVectors == 0) {
            kept_.loads.clear();
            kept_.results.clear();
        }
        dropParameters();
        taken_ = namesOf(program, kernel_);
        for (const char* name : {"k", "lane", "row", "thread"})
            taken_.insert(name);
        bindNames(text_, rows.rows, taken_);
        text_.setLeaf([this](const ScalarNode& node) { return leaf(node); });
    }

    Kernel run() {
        begin();
        for (const KeptLoad& load : kept_.loads)
            declareKept(nameOf(load), program_.buffers.at(load.buffer).element);
        for (const BufferId result : kept_.results)
            declareKept(resultName(result), program_.buffers.at(result).element);
        if (!kept_.loads.empty())
            loadKept();
        for (std::size_t i = 0; i < rows_.passes.size(); ++i) {
            const auto normaliser = normaliserAt(i);
            if (normaliser)
                writeNormaliser(*normaliser, i);
            else
                write(rows_.passes[i], i);
            if (normaliser)
                ++i;
        }
        finish();
        return std::move(kernel_);
    }

private:
    bool isOfBlock() const { return schedule_.threads > 32; }
    bool isOfThread() const { return schedule_.threads == 1; }

    IndexWidth widthOfIndices() const {
        for (const Computation& computation : computations_)
            if (indexWidthOf(program_, computation) == IndexWidth::Bits64)
                return IndexWidth::Bits64;
        return IndexWidth::Bits32;
    }

    /// Buffers that stay in registers are no parameters.
    void dropParameters() {
        std::erase_if(kernel_.parameters, [&](const KernelParameter& parameter) {
            return parameter.isWritten && !rows_.wanted.contains(parameter.buffer);
        });
        kernel_.bytes = 0;
        for (const KernelParameter& parameter : kernel_.parameters)
            kernel_.bytes += estimatedBytes(program_.buffers.at(parameter.buffer));
    }

    Index rowsInAll() const { return elementsOf(analysis::raise::extentsOf(rows_.rows)); }

    void begin() {
        const std::string_view type = spelling(text_.width());
        const std::string block = text_.width() == IndexWidth::Bits64
                                      ? "static_cast<long long>(blockIdx.x)"
                                      : "static_cast<int>(blockIdx.x)";
        const std::size_t rowsOfBlock = isOfBlock() ? 1 : smallBlock / schedule_.threads;
        std::string row = block;
        if (rowsOfBlock > 1)
            row += fmt::format(" * {} + static_cast<int>(threadIdx.x){}", rowsOfBlock,
                               isOfThread() ? "" : fmt::format(" / {}", schedule_.threads));
        lines_.add(fmt::format("const {} row = {};", type, row));
        if (!isOfThread())
            lines_.add(fmt::format("const int lane = threadIdx.x{};",
                                   isOfBlock() ? "" : fmt::format(" % {}", schedule_.threads)));
        if (rowsOfBlock > 1) {
            lines_.open(fmt::format("if (row >= {})", text_.index(rowsInAll())));
            lines_.add("return;");
            lines_.close("");
        }
        declareAxes(lines_, text_, rows_.rows, "row");
        kernel_.threads[0] = isOfBlock() ? schedule_.threads : smallBlock;
        kernel_.blocks[0] = roundedUpQuotient(rowsInAll(), static_cast<std::int64_t>(rowsOfBlock));
    }

    std::string nameOf(const KeptLoad& load) {
        std::string key = fmt::format("{} {}", load.buffer, load.at.text());
        const auto [name, isNew] = keptNames_.try_emplace(std::move(key));
        if (isNew)
            name->second = freshName(program_.buffers.at(load.buffer).name + "_kept", taken_);
        return name->second;
    }
    std::string resultName(BufferId buffer) {
        const auto [name, isNew] = resultNames_.try_emplace(buffer);
        if (isNew)
            name->second = freshName(program_.buffers.at(buffer).name + "_kept", taken_);
        return name->second;
    }
    std::string rowName(BufferId buffer) {
        const auto [name, isNew] = rowNames_.try_emplace(buffer);
        if (isNew)
            name->second = freshName(program_.buffers.at(buffer).name + "_row", taken_);
        return name->second;
    }

    void declareKept(const std::string& name, ScalarKind element) {
        lines_.add(fmt::format("{} {}[{}];", analysis::raise::spelling(computedType(element)), name,
                               schedule_.keptVectors * schedule_.width));
    }

    bool isKept(const Axis& elements) const {
        return schedule_.keptVectors > 0 && kept_.elements && kept_.elements->id == elements.id;
    }

    /// Opens the loop over the vectors of elements that a thread has; `first` is the name of the
    /// number of a vector's first element.
    void openVectors(const Axis& elements, const std::string& first) {
        openVectors(elements, first, "", text_.index(*elements.extent, true));
    }
    /// The same from element `begin` to `extent`; an empty `begin` is 0.
    void openVectors(const Axis& elements, const std::string& first, const std::string& begin,
                     const std::string& extent) {
        const std::string_view type = spelling(text_.width());
        const std::string thread = isOfThread() ? "" : "lane";
        const auto step = static_cast<std::int64_t>(schedule_.threads * schedule_.width);
        if (!isKept(elements)) {
            lines_.add(fmt::format("#pragma unroll {}", 16 / schedule_.width));
            std::string from = thread;
            if (!isOfThread() && schedule_.width > 1)
                from += fmt::format(" * {}", schedule_.width);
            if (!begin.empty())
                from = from.empty() ? begin : fmt::format("{} + {}", begin, from);
            lines_.open(fmt::format("for ({0} {1} = {2}; {1} < {3}; {1} += {4}) {{", type, first,
                                    from.empty() ? "0" : from, extent, step));
            guards_ = 0;
            return;
        }
        lines_.add("#pragma unroll");
        lines_.open(fmt::format("for (int k = 0; k < {}; ++k) {{", schedule_.keptVectors));
        std::string number = isOfThread() ? "k" : fmt::format("k * {} + lane", schedule_.threads);
        if (schedule_.width > 1)
            number = fmt::format("({}) * {}", number, schedule_.width);
        lines_.add(fmt::format("const {} {} = {};", type, first, number));
        const auto count = elements.extent->constant();
        const bool isFull =
            count && *count == step * static_cast<std::int64_t>(schedule_.keptVectors);
        guards_ = isFull ? 0 : 1;
        if (!isFull)
            lines_.open(fmt::format("if ({} < {}) {{", first, extent));
    }
    void closeVectors() {
        if (guards_ > 0)
            lines_.close();
        lines_.close();
    }
    /// Opens the loop over a vector's elements, if it has several.
    void openElements(const Axis& elements, const std::string& first) {
        if (schedule_.width > 1) {
            lines_.add("#pragma unroll");
            lines_.open(fmt::format("for (int j = 0; j < {}; ++j) {{", schedule_.width));
            text_.bind(elements.id, fmt::format("({} + j)", first));
        } else {
            text_.bind(elements.id, first);
        }
    }
    void closeElements() {
        if (schedule_.width > 1)
            lines_.close();
    }
    /// The number of the element in what a thread keeps.
    std::string slot() const {
        if (schedule_.width == 1)
            return "k";
        return fmt::format("k * {} + j", schedule_.width);
    }

    std::string vectorType(BufferId buffer) {
        helpers_.insert("Vector");
        return fmt::format("Vector<{}, {}>",
                           analysis::raise::spelling(program_.buffers.at(buffer).element),
                           schedule_.width);
    }

    void loadKept() {
        const Axis& elements = *kept_.elements;
        const std::string first = elementName(elements);
        openVectors(elements, first);
        text_.bind(elements.id, first);
        for (const KeptLoad& load : kept_.loads)
            if (load.isVector && schedule_.width > 1)
                lines_.add(fmt::format("const auto {}_at = *reinterpret_cast<const {}*>({} + {});",
                                       nameOf(load), vectorType(load.buffer),
                                       program_.buffers.at(load.buffer).name,
                                       text_.index(load.at)));
        openElements(elements, first);
        for (const KeptLoad& load : kept_.loads) {
            const analysis::raise::Buffer& array = program_.buffers.at(load.buffer);
            const std::string element =
                load.isVector && schedule_.width > 1
                    ? fmt::format("{}_at.at[j]", nameOf(load))
                    : fmt::format("{}[{}]", array.name, text_.index(load.at));
            lines_.add(fmt::format("{}[{}] = {};", nameOf(load), slot(),
                                   computedText(array.element, element)));
        }
        closeElements();
        closeVectors();
        lines_.add("");
    }

    std::string elementName(const Axis& elements) {
        const auto [name, isNew] = elementNames_.try_emplace(elements.id);
        if (isNew)
            name->second = freshName(elements.name, taken_);
        return name->second;
    }

    std::optional<std::string> leaf(const ScalarNode& node) {
        if (node.kind == ScalarNode::Kind::Accumulated)
            return fmt::format("acc{}_{}", pass_, node.reduction);
        if (rows_.rowValues.contains(node.buffer))
            return rowName(node.buffer);
        if (kept_.results.contains(node.buffer) && inElements_)
            return fmt::format("{}[{}]", resultName(node.buffer), slot());
        const Index at = flattened(node.position, program_.buffers.at(node.buffer).shape);
        const auto isSame = [&](const KeptLoad& load) {
            return load.buffer == node.buffer && load.at == at;
        };
        if (inElements_ && std::ranges::any_of(kept_.loads, isSame))
            return fmt::format("{}[{}]", nameOf(*std::ranges::find_if(kept_.loads, isSame)),
                               slot());
        const auto vector = vectors_.find(fmt::format("{} {}", node.buffer, at.text()));
        if (vector != vectors_.end())
            return computedText(program_.buffers.at(node.buffer).element,
                                fmt::format("{}.at[j]", vector->second));
        return std::nullopt;
    }

    /// The value with the results of earlier maps computed again, unless threads keep them.
    Scalar inlined(const Scalar& value, const Axis& elements) const {
        return replaced(value, [&](const ScalarNode& node) -> Scalar {
            if (node.kind != ScalarNode::Kind::Load || kept_.results.contains(node.buffer))
                return nullptr;
            for (const RowPass& pass : rows_.passes)
                for (const Store& store : pass.computation.stores)
                    if (pass.kind == RowPass::Kind::Map && store.buffer == node.buffer)
                        return inlined(store.value, elements);
            return nullptr;
        });
    }

    /// Loads of neighbours that the pass's values need, before the loop over a vector's elements.
    void loadVectors(const std::vector<Scalar>& values, const Axis& elements,
                     const std::string& first) {
        vectors_.clear();
        if (schedule_.width == 1)
            return;
        text_.bind(elements.id, first);
        for (const ScalarNode* load : eagerLoads(values)) {
            if (rows_.rowValues.contains(load->buffer) || kept_.results.contains(load->buffer))
                continue;
            const analysis::raise::Buffer& array = program_.buffers.at(load->buffer);
            const Index at = flattened(load->position, array.shape);
            const bool isKeptLoad = std::ranges::any_of(kept_.loads, [&](const KeptLoad& each) {
                return each.buffer == load->buffer && each.at == at && inElements_;
            });
            const std::string key = fmt::format("{} {}", load->buffer, at.text());
            if (isKeptLoad || vectors_.contains(key) ||
                !isAlignedAlong(at, elements, static_cast<std::int64_t>(schedule_.width)))
                continue;
            const std::string name = freshName(array.name + "_at", taken_);
            lines_.add(fmt::format("const auto {} = *reinterpret_cast<const {}*>({} + {});", name,
                                   vectorType(load->buffer), array.name, text_.index(at)));
            vectors_.emplace(key, name);
        }
    }

    void write(const RowPass& pass, std::size_t number) {
        pass_ = number;
        lines_.add(fmt::format("// {}", pass.computation.name));
        if (pass.kind == RowPass::Kind::Row) {
            storeRow(pass.computation.stores);
            return;
        }
        const Axis& elements = *pass.elements;
        inElements_ = isKept(elements);
        if (pass.kind == RowPass::Kind::Map)
            writeMap(pass.computation, elements);
        else
            writeReductions(pass.computation, elements);
        inElements_ = false;
        vectors_.clear();
    }

    std::string accumulator(std::size_t reduction) const {
        return fmt::format("{}{}_{}", inPart_.contains(reduction) ? "part" : "acc", pass_,
                           reduction);
    }

    /// Declares the accumulators of the pass's reductions. Returns the values that they combine.
    std::vector<Scalar> beginReductions(const Computation& computation, const Axis& elements) {
        const auto& reductions = computation.reductions;
        std::vector<Scalar> values;
        for (std::size_t i = 0; i < reductions.size(); ++i) {
            const ScalarKind type = computedType(reductions[i].type);
            lines_.add(fmt::format("{} {} = {};", analysis::raise::spelling(type), accumulator(i),
                                   neutralText(reductions[i].reducer, type)));
            values.push_back(inlined(reductions[i].element, elements));
        }
        return values;
    }

    /// Adds the values of each element of a vector to the accumulators.
    void combineElements(const Computation& computation, const Axis& elements,
                         const std::vector<Scalar>& values, const std::string& first) {
        const auto& reductions = computation.reductions;
        openElements(elements, first);
        const CudaText::Values texts = text_.values(values);
        lines_.addAll(texts.statements);
        for (std::size_t i = 0; i < reductions.size(); ++i)
            lines_.add(fmt::format("{} = {};", accumulator(i),
                                   text_.combined(reductions[i].reducer, reductions[i].type,
                                                  accumulator(i), texts.values[i])));
        closeElements();
    }

    void combineThreads(const Computation& computation) {
        if (isOfThread())
            return;
        for (std::size_t i = 0; i < computation.reductions.size(); ++i)
            combineThreads(computation.reductions[i], accumulator(i));
    }

    void writeReductions(const Computation& computation, const Axis& elements) {
        const std::vector<Scalar> values = beginReductions(computation, elements);
        const std::string first = elementName(elements);
        const bool inParts = addsInParts(computation, elements);
        if (inParts)
            openPart(computation, elements, first);
        else
            openVectors(elements, first);
        loadVectors(values, elements, first);
        combineElements(computation, elements, values, first);
        closeVectors();
        if (inParts)
            closePart(computation);
        combineThreads(computation);
        storeRow(computation.stores);
    }

    /// Whether the pass has partial sums, see termsOfAPart.
    bool addsInParts(const Computation& computation, const Axis& elements) const {
        const auto count = elements.extent->constant();
        const auto threads = static_cast<std::int64_t>(schedule_.threads);
        return !isKept(elements) && (!count || *count >= manyTerms * threads) &&
               std::ranges::any_of(computation.reductions, isRoundedSum);
    }
    /// Opens the loops over parts and over the vectors of a part, and declares the partial sums.
    void openPart(const Computation& computation, const Axis& elements, const std::string& first) {
        const std::string begin = freshName("begin", taken_);
        const std::string end = freshName("end", taken_);
        const std::string extent = text_.index(*elements.extent, true);
        const std::string_view type = spelling(text_.width());
        const auto size = static_cast<std::int64_t>(schedule_.threads) * termsOfAPart;
        lines_.open(
            fmt::format("for ({0} {1} = 0; {1} < {2}; {1} += {3}) {{", type, begin, extent, size));
        lines_.add(fmt::format("const {0} {1} = {2} - {3} > {4} ? {3} + {4} : {2};", type, end,
                               extent, begin, size));
        for (std::size_t i = 0; i < computation.reductions.size(); ++i)
            if (isRoundedSum(computation.reductions[i])) {
                inPart_.insert(i);
                const ScalarKind kind = computedType(computation.reductions[i].type);
                lines_.add(fmt::format("{} {} = {};", analysis::raise::spelling(kind),
                                       accumulator(i), neutralText(Reducer::Sum, kind)));
            }
        openVectors(elements, first, begin, end);
    }
    void closePart(const Computation& computation) {
        for (std::size_t i = 0; i < computation.reductions.size(); ++i)
            if (inPart_.contains(i)) {
                const std::string part = accumulator(i);
                inPart_.erase(i);
                lines_.add(fmt::format("{0} = {0} + {1};", accumulator(i), part));
            }
        lines_.close();
    }

    /// The pass's maximum, if the next pass would read the row again to sum exponentials.
    std::optional<Normaliser> normaliserAt(std::size_t number) const {
        if (number + 1 >= rows_.passes.size() || schedule_.keptVectors > 0)
            return std::nullopt;
        const RowPass& pass = rows_.passes[number];
        return normaliserOf(pass, rows_.passes[number + 1],
                            [&](const Scalar& value) { return inlined(value, *pass.elements); });
    }

    /// Writes one pass that computes the maximum and the sums. Each thread subtracts the maximum of
    /// its elements so far, clamped to a finite number, and scales its sums when the maximum grows.
    void writeNormaliser(const Normaliser& normaliser, std::size_t number) {
        const Computation& extremes = rows_.passes[number].computation;
        const Computation& sums = rows_.passes[number + 1].computation;
        const Axis& elements = *rows_.passes[number].elements;
        formsNormaliser_ = true;
        lines_.add(
            fmt::format("// {}, and {} relative to the maximum so far", extremes.name, sums.name));
        pass_ = number + 1;
        (void)beginReductions(sums, elements);
        pass_ = number;
        const std::vector<Scalar> values = beginReductions(extremes, elements);
        const std::string maximum = accumulator(normaliser.reduction);
        const std::string base = freshName("base", taken_);
        const std::string next = freshName("next", taken_);
        const auto limit = [](float value) {
            return numberText(ScalarKind::Float,
                              *analysis::raise::number(ScalarKind::Float, value));
        };
        constexpr float greatest = std::numeric_limits<float>::max();
        lines_.add(fmt::format("float {} = {};", base, limit(-greatest)));
        const std::string first = elementName(elements);
        openVectors(elements, first);
        std::vector<Scalar> all = values;
        all.insert(all.end(), normaliser.terms.begin(), normaliser.terms.end());
        loadVectors(all, elements, first);
        combineElements(extremes, elements, values, first);
        lines_.add(fmt::format("const float {} = fminf(fmaxf({}, {}), {});", next, base, maximum,
                               limit(greatest)));
        pass_ = number + 1;
        scaleSums(sums, fmt::format("expf({} - {})", base, next));
        lines_.add(fmt::format("{} = {};", base, next));
        rowNames_[normaliser.maximum] = base;
        combineElements(sums, elements, normaliser.terms, first);
        rowNames_.erase(normaliser.maximum);
        closeVectors();
        vectors_.clear();
        pass_ = number;
        combineThreads(extremes);
        storeRow(extremes.stores);
        pass_ = number + 1;
        scaleSums(sums, fmt::format("expf({} - ({}))", base, text_.value(normaliser.base)));
        combineThreads(sums);
        storeRow(sums.stores);
    }

    void scaleSums(const Computation& sums, const std::string& factor) {
        for (std::size_t i = 0; i < sums.reductions.size(); ++i)
            lines_.add(fmt::format("{} *= {};", accumulator(i), factor));
    }

    void combineThreads(const Reduction& reduction, const std::string& acc) {
        const ScalarKind type = computedType(reduction.type);
        const std::string combine = fmt::format("{}{{}}", functorOf(reduction.reducer));
        helpers_.insert(std::string(functorOf(reduction.reducer)));
        helpers_.insert(isOfBlock() ? "reduceBlock" : "reduceWarp");
        lines_.add(isOfBlock() ? fmt::format("{0} = reduceBlock<{1}>({0}, {2}({3}), {4});", acc,
                                             schedule_.threads, analysis::raise::spelling(type),
                                             neutralText(reduction.reducer, type), combine)
                               : fmt::format("{0} = reduceWarp({0}, {1});", acc, combine));
    }

    /// Stores one value a row: all of its threads compute it, and one writes it.
    void storeRow(const std::vector<Store>& stores) {
        std::vector<Scalar> values;
        for (const Store& store : stores)
            values.push_back(store.value);
        const CudaText::Values texts = text_.values(values);
        lines_.addAll(texts.statements);
        for (std::size_t i = 0; i < stores.size(); ++i) {
            const analysis::raise::Buffer& array = program_.buffers.at(stores[i].buffer);
            const std::string name = rowName(stores[i].buffer);
            const std::string type{analysis::raise::spelling(computedType(array.element))};
            // A later pass reads what memory would hold.
            const std::string value =
                computedType(array.element) == array.element
                    ? texts.values[i]
                    : computedText(array.element, text_.stored(stores[i].buffer, texts.values[i]));
            lines_.add(fmt::format("const {} {} = {};", type, name, value));
            if (!rows_.wanted.contains(stores[i].buffer))
                continue;
            if (!isOfThread())
                lines_.open("if (lane == 0)");
            lines_.add(fmt::format("{} = {};", text_.element(stores[i].buffer, stores[i].position),
                                   text_.stored(stores[i].buffer, name)));
            if (!isOfThread())
                lines_.close("");
        }
    }

    void writeMap(const Computation& computation, const Axis& elements) {
        const bool isRead = std::ranges::any_of(computation.stores, [&](const Store& store) {
            return kept_.results.contains(store.buffer) || rows_.wanted.contains(store.buffer);
        });
        if (!isRead) // Others compute it again.
            return;
        std::vector<Scalar> values;
        for (const Store& store : computation.stores)
            values.push_back(inlined(store.value, elements));
        const std::string first = elementName(elements);
        openVectors(elements, first);
        loadVectors(values, elements, first);
        std::vector<std::string> results(values.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
            const Store& store = computation.stores[i];
            const Index at = flattened(store.position, program_.buffers.at(store.buffer).shape);
            if (schedule_.width == 1 || !rows_.wanted.contains(store.buffer) ||
                !isAlignedAlong(at, elements, static_cast<std::int64_t>(schedule_.width)))
                continue;
            results[i] = freshName("result", taken_);
            lines_.add(fmt::format("{} {};", vectorType(store.buffer), results[i]));
        }
        openElements(elements, first);
        const CudaText::Values texts = text_.values(values);
        lines_.addAll(texts.statements);
        for (std::size_t i = 0; i < values.size(); ++i) {
            const Store& store = computation.stores[i];
            std::string value = texts.values[i];
            if (kept_.results.contains(store.buffer) && inElements_) {
                const std::string keeps = fmt::format("{}[{}]", resultName(store.buffer), slot());
                lines_.add(fmt::format("{} = {};", keeps, value));
                value = keeps;
            }
            if (!rows_.wanted.contains(store.buffer))
                continue;
            const std::string target = results[i].empty()
                                           ? text_.element(store.buffer, store.position)
                                           : fmt::format("{}.at[j]", results[i]);
            lines_.add(fmt::format("{} = {};", target, text_.stored(store.buffer, value)));
        }
        closeElements();
        text_.bind(elements.id, first);
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (results[i].empty())
                continue;
            const Store& store = computation.stores[i];
            const analysis::raise::Buffer& array = program_.buffers.at(store.buffer);
            lines_.add(fmt::format(
                "*reinterpret_cast<{}*>({} + {}) = {};", vectorType(store.buffer), array.name,
                text_.index(flattened(store.position, array.shape)), results[i]));
        }
        closeVectors();
    }

    void finish() {
        std::set<std::string> helpers = text_.helpers();
        helpers.insert(helpers_.begin(), helpers_.end());
        kernel_.helpers.assign(helpers.begin(), helpers.end());
        kernel_.schedule = fmt::format(
            "{} {}{}",
            isOfThread()  ? "a thread has"
            : isOfBlock() ? fmt::format("a block of {} threads has", schedule_.threads)
                          : std::string("a warp has"),
            "a row", kept_.count() > 0 ? ", whose elements stay in registers between passes" : "");
        if (formsNormaliser_)
            kernel_.schedule += ", and one pass forms its maximum and the sums relative to it";
        if (schedule_.isAloneOnMultiprocessor) {
            // Shared memory that nothing uses keeps other blocks away.
            kernel_.sharedBytes = analysis::DataCentreGpu::sharedBytes / 2 + 4096;
            kernel_.schedule += ", one block on a multiprocessor so that the L2 cache holds the "
                                "rows between passes";
        }
        kernel_.definition = definitionText(program_, kernel_, lines_.text());
    }

    const Program& program_;
    const RowProgram& rows_;
    RowSchedule schedule_;
    std::vector<Computation> computations_;
    KeptElements kept_;
    Kernel kernel_;
    CudaText text_;
    std::set<std::string> taken_;
    std::set<std::string> helpers_;
    std::map<std::string, std::string> keptNames_;
    std::map<BufferId, std::string> resultNames_;
    std::map<BufferId, std::string> rowNames_;
    std::map<std::uint32_t, std::string> elementNames_;
    std::map<std::string, std::string> vectors_; ///< Vectors that are loaded, by access.
    CodeLines lines_;
    std::size_t pass_ = 0;
    int guards_ = 0;
    bool formsNormaliser_ = false;
    std::set<std::size_t> inPart_; ///< The pass's reductions that have a partial sum now.
    bool inElements_ = false;      ///< Whether the pass runs over elements that threads keep.
};

} // namespace

Kernel rowKernel(const Program& program, const RowProgram& rows, const RowSchedule& schedule) {
    return RowWriting(program, rows, schedule).run();
}

} // namespace kernelskill::engine::graph
