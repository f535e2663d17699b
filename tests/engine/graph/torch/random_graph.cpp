#include "tests/engine/graph/torch/random_graph.h"

#include "engine/graph/check/model_check.h"
#include "engine/graph/type_text.h"
#include "tests/engine/graph/program_builder.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine::graph::testing {

namespace {

constexpr std::int64_t maxElements = 3000;

std::int64_t countOf(const Sizes& sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

class RandomGraph {
public:
    RandomGraph(std::uint64_t seed, int nodes) : random_(seed), nodes_(nodes) {}

    Program make() {
        const int inputs = static_cast<int>(below(2)) + 1;
        for (int i = 0; i < inputs; ++i)
            addInput();
        for (int tries = 0; static_cast<int>(program().nodes.size()) < nodes_ && tries < 8 * nodes_;
             ++tries)
            step();
        for (const std::string& name : last(1 + below(2)))
            builder_.output(name);
        return *withRaisedTypes(program());
    }

private:
    using Arguments = std::vector<NamedArgument>;

    Program& program() { return builder_.program(); }
    std::int64_t below(std::int64_t bound) {
        return std::uniform_int_distribution<std::int64_t>(0, bound - 1)(random_);
    }
    bool flip() { return below(2) == 0; }
    double fraction() { return std::uniform_real_distribution<double>(0.2, 1.5)(random_); }
    template <typename T>
    const T& oneOf(const std::vector<T>& values) {
        return values[static_cast<std::size_t>(below(static_cast<std::int64_t>(values.size())))];
    }
    std::string fresh(const std::string& kind) { return kind + std::to_string(++names_); }

    /// The newest tensors, which no other need read.
    std::vector<std::string> last(std::int64_t count) const {
        std::vector<std::string> names;
        for (auto at = order_.rbegin(); at != order_.rend() && count > 0; ++at, --count)
            names.push_back(*at);
        return names;
    }
    std::string anyTensor() {
        // The newest one twice out of three times, so that chains grow.
        return below(3) > 0 ? order_.back() : oneOf(order_);
    }
    const Sizes& shapeOf(const std::string& name) const { return shapes_.at(name); }
    std::int64_t rankOf(const std::string& name) const {
        return static_cast<std::int64_t>(shapeOf(name).size());
    }
    std::int64_t dimension(const std::string& of) { return below(rankOf(of)); }

    void addInput() {
        static const std::vector<Sizes> shapes{
            {6, 9},       {5},       {3, 4, 7},       {2, 6, 8, 7}, {33, 40},      {2, 3, 130},
            {1, 8, 9, 5}, {4, 1, 6}, {2, 4, 5, 6, 3}, {65, 16},     {2, 8, 16, 16}};
        const std::string name = fresh("x");
        const Sizes shape = oneOf(shapes);
        builder_.input(name, shape);
        shapes_[name] = shape;
        order_.push_back(name);
    }
    std::string parameter(const Sizes& shape) {
        const std::string name = fresh("w");
        builder_.parameter(name, shape);
        return name;
    }

    /// Adds the node if it fits; its first result can be read from then on.
    void add(const std::string& target, const Arguments& arguments, int results = 1,
             const std::set<int>& integers = {}) {
        const Program before = program();
        std::vector<std::vector<std::string>> names;
        for (int i = 0; i < results; ++i) {
            names.push_back({fresh("v")});
            builder_.type(names.back().front(), {},
                          integers.contains(i) ? ElementType::Int64 : ElementType::Float32);
        }
        const std::string result = names.front().front();
        builder_.nodeWithResults(fresh("node"), target, arguments, std::move(names));
        const auto typed = withRaisedTypes(program());
        if (!typed || typed->values.at(result).element != ElementType::Float32 ||
            countOf(sizesOf(*typed, result)) > maxElements ||
            countOf(sizesOf(*typed, result)) == 0) {
            program() = before;
            return;
        }
        shapes_[result] = sizesOf(*typed, result);
        order_.push_back(result);
    }
    static Sizes sizesOf(const Program& program, const std::string& name) {
        Sizes sizes;
        for (const Extent& extent : program.values.at(name).sizes)
            sizes.push_back(extent.value);
        return sizes;
    }

    void step() {
        static const std::vector<void (RandomGraph::*)()> steps{
            &RandomGraph::addMap,         &RandomGraph::addMap,     &RandomGraph::addScalar,
            &RandomGraph::addBinary,      &RandomGraph::addBinary,  &RandomGraph::addReduction,
            &RandomGraph::addReduction,   &RandomGraph::addSoftmax, &RandomGraph::addNorm,
            &RandomGraph::addNorm,        &RandomGraph::addView,    &RandomGraph::addView,
            &RandomGraph::addProduct,     &RandomGraph::addProduct, &RandomGraph::addConvolution,
            &RandomGraph::addConvolution, &RandomGraph::addPool,    &RandomGraph::addJoin,
            &RandomGraph::addScan,        &RandomGraph::addExtreme, &RandomGraph::addAttention};
        (this->*oneOf(steps))();
    }

    void addMap() {
        static const std::vector<std::string> maps{
            "relu", "sigmoid", "tanh", "gelu",     "mish",        "hardswish", "softplus",
            "selu", "elu",     "abs",  "hardtanh", "hardsigmoid", "leaky_relu"};
        add("aten." + oneOf(maps) + ".default", {value("self", anyTensor())});
    }
    void addScalar() {
        const std::string x = anyTensor();
        switch (below(4)) {
        case 0:
            return add("aten.clamp.default",
                       {value("self", x), {"min", -fraction()}, {"max", fraction()}});
        case 1:
            return add("aten.rsub.Scalar", {value("self", x), {"other", fraction()}});
        case 2:
            return add("aten.div.Tensor", {value("self", x), {"other", 1 + fraction()}});
        default:
            return add("aten.mul.Tensor", {value("self", x), {"other", fraction()}});
        }
    }
    void addBinary() {
        const std::string x = anyTensor();
        std::string y = oneOf(order_);
        if (flip()) { // Another tensor that is broadcast.
            Sizes shape = shapeOf(x);
            for (std::int64_t& extent : shape)
                extent = below(3) == 0 ? 1 : extent;
            shape.erase(shape.begin(),
                        shape.begin() + below(static_cast<std::int64_t>(shape.size()) + 1));
            y = parameter(shape);
        }
        if (!areBroadcast(shapeOf(x), y))
            return;
        static const std::vector<std::string> operators{"add", "sub", "mul"};
        const bool swaps = flip();
        add("aten." + oneOf(operators) + ".Tensor",
            {value("self", swaps ? y : x), value("other", swaps ? x : y)});
    }
    /// Whether extents of the last axes are the same or 1.
    [[nodiscard]] bool areBroadcast(const Sizes& left, const std::string& other) const {
        const auto found = shapes_.find(other);
        if (found == shapes_.end()) // A parameter, made to fit.
            return true;
        const Sizes& right = found->second;
        for (std::size_t i = 1; i <= std::min(left.size(), right.size()); ++i) {
            const std::int64_t a = left[left.size() - i];
            const std::int64_t b = right[right.size() - i];
            if (a != b && a != 1 && b != 1)
                return false;
        }
        return true;
    }
    void addReduction() {
        const std::string x = anyTensor();
        if (rankOf(x) == 0)
            return;
        std::set<std::int64_t> dimensions{dimension(x)};
        if (flip())
            dimensions.insert(dimension(x));
        const Sizes list(dimensions.begin(), dimensions.end());
        const bool keeps = flip();
        switch (below(4)) {
        case 0:
            // The sum stays near 1, as the elements were.
            return add(
                "aten.linalg_vector_norm.default",
                {value("self", x), {"ord", flip() ? 2.0 : 1.0}, {"dim", list}, {"keepdim", keeps}});
        case 1:
            return add("aten.logsumexp.default",
                       {value("self", x), {"dim", list}, {"keepdim", keeps}});
        default:
            return add("aten.mean.dim", {value("self", x), {"dim", list}, {"keepdim", keeps}});
        }
    }
    void addExtreme() {
        const std::string x = anyTensor();
        if (rankOf(x) > 0)
            add(flip() ? "aten.max.dim" : "aten.min.dim",
                {value("self", x), {"dim", dimension(x)}, {"keepdim", flip()}}, 2, {1});
    }
    void addSoftmax() {
        const std::string x = anyTensor();
        if (rankOf(x) > 0)
            add(flip() ? "aten.softmax.int" : "aten.log_softmax.int",
                {value("self", x), {"dim", dimension(x)}});
    }
    void addScan() {
        const std::string x = anyTensor();
        if (rankOf(x) == 0)
            return;
        const std::int64_t axis = dimension(x);
        if (shapeOf(x)[static_cast<std::size_t>(axis)] < 20)
            add("aten.cumsum.default", {value("self", x), {"dim", axis}});
    }
    void addNorm() {
        const std::string x = anyTensor();
        const Sizes shape = shapeOf(x);
        if (shape.size() < 2)
            return;
        const std::int64_t channels = shape[1];
        switch (below(3)) {
        case 0: {
            const Sizes inner(shape.end() - (flip() ? 1 : 2), shape.end());
            Arguments arguments{value("input", x), {"normalized_shape", inner}};
            if (flip()) {
                arguments.push_back(value("weight", parameter(inner)));
                arguments.push_back(value("bias", parameter(inner)));
            }
            return add("aten.layer_norm.default", arguments);
        }
        case 1: {
            const std::int64_t groups = channels % 2 == 0 && flip() ? 2 : 1;
            return add("aten.group_norm.default", {value("input", x),
                                                   {"num_groups", groups},
                                                   value("weight", parameter({channels})),
                                                   value("bias", parameter({channels}))});
        }
        default:
            return add("aten._native_batch_norm_legit_no_training.default",
                       {value("input", x),
                        value("weight", parameter({channels})),
                        value("bias", parameter({channels})),
                        value("running_mean", parameter({channels})),
                        value("running_var", parameter({channels})),
                        {"momentum", 0.1},
                        {"eps", 1e-3}},
                       3);
        }
    }
    void addView() {
        const std::string x = anyTensor();
        const Sizes shape = shapeOf(x);
        if (shape.empty())
            return;
        switch (below(8)) {
        case 0: {
            Sizes order(shape.size());
            std::iota(order.begin(), order.end(), 0);
            std::ranges::shuffle(order, random_);
            return add("aten.permute.default", {value("self", x), {"dims", order}});
        }
        case 1:
            return add(
                "aten.unsqueeze.default",
                {value("self", x), {"dim", below(static_cast<std::int64_t>(shape.size()) + 1)}});
        case 2:
            return add("aten.flatten.using_ints", {value("self", x), {"start_dim", dimension(x)}});
        case 3: {
            Sizes flat{countOf(shape)};
            for (const std::int64_t factor : {2, 3, 4})
                if (flat.back() % factor == 0 && flip()) {
                    flat.back() /= factor;
                    flat.insert(flat.begin(), factor);
                }
            return add("aten.view.default", {value("self", x), {"size", flat}});
        }
        case 4: {
            const std::int64_t axis = dimension(x);
            const std::int64_t extent = shape[static_cast<std::size_t>(axis)];
            const std::int64_t start = below(extent);
            return add("aten.slice.Tensor", {value("self", x),
                                             {"dim", axis},
                                             {"start", start},
                                             {"end", start + 1 + below(extent - start)},
                                             {"step", 1 + below(2)}});
        }
        case 5:
            return add("aten.flip.default", {value("self", x), {"dims", Sizes{dimension(x)}}});
        case 6:
            return add(
                "aten.roll.default",
                {value("self", x), {"shifts", Sizes{1 + below(3)}}, {"dims", Sizes{dimension(x)}}});
        default:
            return add("aten.transpose.int",
                       {value("self", x), {"dim0", dimension(x)}, {"dim1", dimension(x)}});
        }
    }
    void addProduct() {
        const std::string x = anyTensor();
        const Sizes shape = shapeOf(x);
        if (shape.empty())
            return;
        const std::int64_t depth = shape.back();
        const std::int64_t columns = oneOf(std::vector<std::int64_t>{1, 3, 8, 17, 40});
        if (flip()) {
            Arguments arguments{value("input", x), value("weight", parameter({columns, depth}))};
            if (flip())
                arguments.push_back(value("bias", parameter({columns})));
            return add("aten.linear.default", arguments);
        }
        if (shape.size() == 3 && flip())
            return add("aten.bmm.default",
                       {value("self", x), value("mat2", parameter({shape[0], depth, columns}))});
        add("aten.matmul.default", {value("self", x), value("other", parameter({depth, columns}))});
    }
    void addConvolution() {
        const std::string x = anyTensor();
        const Sizes shape = shapeOf(x);
        if (shape.size() < 3)
            return;
        const std::size_t spatial = shape.size() - 2;
        const std::int64_t channels = shape[1];
        const std::int64_t groups = channels % 2 == 0 && below(3) == 0 ? 2 : 1;
        const bool turns = below(3) == 0;
        const std::int64_t results = groups * oneOf(std::vector<std::int64_t>{1, 3, 8});
        Sizes weight =
            turns ? Sizes{channels, results / groups} : Sizes{results, channels / groups};
        Sizes stride;
        Sizes padding;
        for (std::size_t axis = 0; axis < spatial; ++axis) {
            weight.push_back(1 + below(3));
            stride.push_back(1 + below(2));
            padding.push_back(below(std::min<std::int64_t>(weight.back(), 2)));
        }
        Arguments arguments{value("input", x), value("weight", parameter(weight))};
        if (flip())
            arguments.push_back(value("bias", parameter({results})));
        arguments.push_back({"stride", stride});
        arguments.push_back({"padding", padding});
        arguments.push_back({"groups", groups});
        const std::string axes = std::to_string(spatial) + "d";
        add(turns ? "aten.conv_transpose" + axes + (spatial == 1 ? ".default" : ".input")
                  : "aten.conv" + axes + ".default",
            arguments);
    }
    void addPool() {
        const std::string x = anyTensor();
        const Sizes shape = shapeOf(x);
        if (shape.size() < 3 || shape.size() > 5)
            return;
        const std::size_t spatial = shape.size() - 2;
        const std::string axes = std::to_string(spatial) + "d.default";
        if (below(3) == 0)
            return add("aten.adaptive_avg_pool" + axes,
                       {value("self", x), {"output_size", Sizes(spatial, 1)}});
        Sizes window;
        Sizes padding;
        for (std::size_t axis = 0; axis < spatial; ++axis) {
            window.push_back(2 + below(2));
            padding.push_back(below(2));
        }
        add((flip() ? "aten.max_pool" : "aten.avg_pool") + axes,
            {value("self", x),
             {"kernel_size", window},
             {"stride", flip() ? window : Sizes(spatial, 1)},
             {"padding", padding},
             {"ceil_mode", flip()}});
    }
    void addJoin() {
        const std::string x = anyTensor();
        for (const std::string& y : order_)
            if (y != x && shapeOf(y) == shapeOf(x) && !shapeOf(x).empty())
                return add(flip() ? "aten.cat.default" : "aten.stack.default",
                           {{"tensors", std::vector<ValueName>{{x}, {y}}}, {"dim", dimension(x)}});
    }
    void addAttention() {
        const std::string x = anyTensor();
        const Sizes shape = shapeOf(x);
        if (shape.size() >= 3)
            add("aten.scaled_dot_product_attention.default",
                {value("query", x), value("key", x), value("value", x), {"is_causal", flip()}});
    }

    std::mt19937_64 random_;
    int nodes_;
    int names_ = 0;
    ProgramBuilder builder_;
    std::vector<std::string> order_; ///< Tensors that can be read, the newest last.
    std::map<std::string, Sizes> shapes_;
};

} // namespace

Program randomGraph(std::uint64_t seed, int nodes) {
    return RandomGraph(seed, nodes).make();
}

std::string textOf(const Program& program) {
    std::string text;
    for (const Node& node : program.nodes) {
        const std::string& result = node.results.front().front();
        text += result + " " + graph::textOf(program.values.at(result)) + " " + node.target;
        for (const NamedArgument& argument : node.arguments) {
            text += " " + argument.name + "=" + graph::textOf(argument.value);
            for (const std::string& name : valuesIn(argument.value))
                if (program.values.contains(name))
                    text += graph::textOf(program.values.at(name));
        }
        text += "\n";
    }
    return text;
}

} // namespace kernelskill::engine::graph::testing
