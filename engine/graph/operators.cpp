#include "engine/graph/operators.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {
namespace {

/// They are sorted by their targets.
constexpr std::array operators = {
    Operator{"aten._assert_tensor_metadata.default",
             "a size=None stride=None dtype=None device=None layout=None", 0},
    Operator{"aten._native_batch_norm_legit_no_training.default",
             "input weight bias running_mean running_var momentum eps", 3},
    Operator{"aten._unsafe_view.default", "self size", 1},
    Operator{"aten.abs.default", "self", 1},
    Operator{"aten.adaptive_avg_pool1d.default", "self output_size", 1},
    Operator{"aten.adaptive_avg_pool2d.default", "self output_size", 1},
    Operator{"aten.adaptive_avg_pool3d.default", "self output_size", 1},
    Operator{"aten.add.Tensor", "self other alpha=1", 1},
    Operator{"aten.alias.default", "self", 1},
    Operator{"aten.argmax.default", "self dim=None keepdim=False", 1},
    Operator{"aten.argmin.default", "self dim=None keepdim=False", 1},
    Operator{"aten.avg_pool1d.default",
             "self kernel_size stride=[] padding=[0] ceil_mode=False count_include_pad=True", 1},
    Operator{"aten.avg_pool2d.default",
             "self kernel_size stride=[] padding=[0,0] ceil_mode=False count_include_pad=True "
             "divisor_override=None",
             1},
    Operator{"aten.avg_pool3d.default",
             "self kernel_size stride=[] padding=[0,0,0] ceil_mode=False count_include_pad=True "
             "divisor_override=None",
             1},
    Operator{"aten.batch_norm.default",
             "input weight bias running_mean running_var training momentum eps cudnn_enabled", 1},
    Operator{"aten.bitwise_not.default", "self", 1},
    Operator{"aten.bmm.default", "self mat2", 1},
    Operator{"aten.broadcast_tensors.default", "tensors", 1},
    Operator{"aten.cat.default", "tensors dim=0", 1},
    Operator{"aten.chunk.default", "self chunks dim=0", 1},
    Operator{"aten.clamp.Tensor", "self min=None max=None", 1},
    Operator{"aten.clamp.default", "self min=None max=None", 1},
    Operator{"aten.clamp_min.default", "self min", 1},
    Operator{"aten.clone.default", "self memory_format=None", 1},
    Operator{"aten.conv1d.default",
             "input weight bias=None stride=[1] padding=[0] dilation=[1] groups=1", 1},
    Operator{"aten.conv2d.default",
             "input weight bias=None stride=[1,1] padding=[0,0] dilation=[1,1] groups=1", 1},
    Operator{"aten.conv3d.default",
             "input weight bias=None stride=[1,1,1] padding=[0,0,0] dilation=[1,1,1] groups=1", 1},
    Operator{
        "aten.conv_transpose1d.default",
        "input weight bias=None stride=[1] padding=[0] output_padding=[0] groups=1 dilation=[1]",
        1},
    Operator{"aten.conv_transpose2d.input",
             "input weight bias=None stride=[1,1] padding=[0,0] output_padding=[0,0] groups=1 "
             "dilation=[1,1]",
             1},
    Operator{"aten.conv_transpose3d.input",
             "input weight bias=None stride=[1,1,1] padding=[0,0,0] output_padding=[0,0,0] "
             "groups=1 dilation=[1,1,1]",
             1},
    Operator{"aten.cross_entropy_loss.default",
             "self target weight=None reduction=1 ignore_index=-100 label_smoothing=0.0", 1},
    Operator{"aten.cumprod.default", "self dim dtype=None", 1},
    Operator{"aten.cumsum.default", "self dim dtype=None", 1},
    Operator{"aten.detach.default", "self", 1},
    Operator{"aten.div.Tensor", "self other", 1},
    Operator{"aten.einsum.default", "equation tensors path=None", 1},
    Operator{"aten.elu.default", "self alpha=1 scale=1 input_scale=1", 1},
    Operator{"aten.eq.Scalar", "self other", 1},
    Operator{"aten.exp.default", "self", 1},
    Operator{"aten.expand.default", "self size implicit=False", 1},
    Operator{"aten.flatten.using_ints", "self start_dim=0 end_dim=-1", 1},
    Operator{"aten.flip.default", "self dims", 1},
    Operator{"aten.gelu.default", "self approximate='none'", 1},
    Operator{"aten.group_norm.default",
             "input num_groups weight=None bias=None eps=1e-05 cudnn_enabled=True", 1},
    Operator{"aten.gru.input",
             "input hx params has_biases num_layers dropout train bidirectional batch_first", 2},
    Operator{"aten.hardsigmoid.default", "self", 1},
    Operator{"aten.hardswish.default", "self", 1},
    Operator{"aten.hardtanh.default", "self min_val=-1 max_val=1", 1},
    Operator{"aten.index.Tensor", "self indices", 1},
    Operator{
        "aten.instance_norm.default",
        "input weight bias running_mean running_var use_input_stats momentum eps cudnn_enabled", 1},
    Operator{"aten.kl_div.default", "self target reduction=1 log_target=False", 1},
    Operator{"aten.layer_norm.default",
             "input normalized_shape weight=None bias=None eps=1e-05 cudnn_enable=True", 1},
    Operator{"aten.leaky_relu.default", "self negative_slope=0.01", 1},
    Operator{"aten.linalg_vector_norm.default", "self ord=2 dim=None keepdim=False dtype=None", 1},
    Operator{"aten.linear.default", "input weight bias=None", 1},
    Operator{"aten.log.default", "self", 1},
    Operator{"aten.log_softmax.int", "self dim dtype=None", 1},
    Operator{"aten.logsumexp.default", "self dim keepdim=False", 1},
    Operator{"aten.lstm.input",
             "input hx params has_biases num_layers dropout train bidirectional batch_first", 3},
    Operator{"aten.masked_fill.Scalar", "self mask value", 1},
    Operator{"aten.matmul.default", "self other", 1},
    Operator{"aten.max.dim", "self dim keepdim=False", 2},
    Operator{"aten.max_pool1d.default",
             "self kernel_size stride=[] padding=[0] dilation=[1] ceil_mode=False", 1},
    Operator{"aten.max_pool2d.default",
             "self kernel_size stride=[] padding=[0,0] dilation=[1,1] ceil_mode=False", 1},
    Operator{"aten.max_pool3d.default",
             "self kernel_size stride=[] padding=[0,0,0] dilation=[1,1,1] ceil_mode=False", 1},
    Operator{"aten.mean.default", "self dtype=None", 1},
    Operator{"aten.mean.dim", "self dim keepdim=False dtype=None", 1},
    Operator{"aten.min.dim", "self dim keepdim=False", 2},
    Operator{"aten.min.other", "self other", 1},
    Operator{"aten.mish.default", "self", 1},
    Operator{"aten.mul.Tensor", "self other", 1},
    Operator{"aten.multiply.Tensor", "self other", 1},
    Operator{"aten.ones.default", "size dtype=None layout=None device=None pin_memory=None", 1},
    Operator{"aten.pad.default", "self pad mode='constant' value=None", 1},
    Operator{"aten.permute.default", "self dims", 1},
    Operator{"aten.pow.Tensor_Scalar", "self exponent", 1},
    Operator{"aten.randn.default", "size dtype=None layout=None device=None pin_memory=None", 1},
    Operator{"aten.relu.default", "self", 1},
    Operator{"aten.roll.default", "self shifts dims=[]", 1},
    Operator{"aten.rsub.Scalar", "self other alpha=1", 1},
    Operator{
        "aten.scaled_dot_product_attention.default",
        "query key value attn_mask=None dropout_p=0.0 is_causal=False scale=None enable_gqa=False",
        1},
    Operator{"aten.select.int", "self dim index", 1},
    Operator{"aten.selu.default", "self", 1},
    Operator{"aten.sigmoid.default", "self", 1},
    Operator{"aten.slice.Tensor", "self dim=0 start=None end=None step=1", 1},
    Operator{"aten.smooth_l1_loss.default", "self target reduction=1 beta=1.0", 1},
    Operator{"aten.softmax.int", "self dim dtype=None", 1},
    Operator{"aten.softplus.default", "self beta=1 threshold=20", 1},
    Operator{"aten.split.Tensor", "self split_size dim=0", 1},
    Operator{"aten.sqrt.default", "self", 1},
    Operator{"aten.squeeze.dim", "self dim", 1},
    Operator{"aten.stack.default", "tensors dim=0", 1},
    Operator{"aten.sub.Tensor", "self other alpha=1", 1},
    Operator{"aten.sum.dim_IntList", "self dim keepdim=False dtype=None", 1},
    Operator{"aten.tanh.default", "self", 1},
    Operator{"aten.to.dtype", "self dtype non_blocking=False copy=False memory_format=None", 1},
    Operator{"aten.transpose.int", "self dim0 dim1", 1},
    Operator{"aten.tril.default", "self diagonal=0", 1},
    Operator{"aten.triplet_margin_loss.default",
             "anchor positive negative margin=1.0 p=2 eps=1e-06 swap=False reduction=1", 1},
    Operator{"aten.triu.default", "self diagonal=0", 1},
    Operator{"aten.unflatten.int", "self dim sizes", 1},
    Operator{"aten.unfold.default", "self dimension size step", 1},
    Operator{"aten.unsqueeze.default", "self dim", 1},
    Operator{"aten.view.default", "self size", 1},
    Operator{"aten.zeros.default", "size dtype=None layout=None device=None pin_memory=None", 1},
    Operator{"aten.zeros_like.default",
             "self dtype=None layout=None device=None pin_memory=None memory_format=None", 1},
};
static_assert(std::ranges::is_sorted(operators, {}, &Operator::target));

template <typename T>
std::optional<T> parsedNumber(std::string_view text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

/// The part of `text` before `separator`, which is taken from it.
std::string_view takeUntil(std::string_view& text, char separator) {
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return part;
}

Argument defaultOf(std::string_view text) {
    if (text == "None")
        return std::monostate();
    if (text == "True" || text == "False")
        return text == "True";
    if (text.starts_with('\''))
        return std::string(text.substr(1, text.size() - 2));
    if (text.starts_with('[')) {
        std::vector<std::int64_t> numbers;
        for (std::string_view rest = text.substr(1, text.size() - 2); !rest.empty();)
            numbers.push_back(parsedNumber<std::int64_t>(takeUntil(rest, ',')).value_or(0));
        return numbers;
    }
    if (const auto integer = parsedNumber<std::int64_t>(text))
        return *integer;
    return parsedNumber<double>(text).value_or(0);
}

} // namespace

std::span<const Operator> knownOperators() {
    return operators;
}

const Operator* findOperator(std::string_view target) {
    const auto* const found = std::ranges::lower_bound(operators, target, {}, &Operator::target);
    return found != operators.end() && found->target == target ? found : nullptr;
}

bool isOfExtents(std::string_view target) {
    constexpr std::array<std::string_view, 4> families{"_operator.", "math.", "torch.sym_",
                                                       "aten.sym_size."};
    return target == assertedTruth || std::ranges::any_of(families, [&](std::string_view family) {
               return target.starts_with(family);
           });
}

std::size_t convolvedAxes(std::string_view target) {
    constexpr std::array<std::array<std::string_view, 2>, 3> convolutions = {
        {{"aten.conv1d.default", "aten.conv_transpose1d.default"},
         {"aten.conv2d.default", "aten.conv_transpose2d.input"},
         {"aten.conv3d.default", "aten.conv_transpose3d.input"}}};
    for (std::size_t i = 0; i < convolutions.size(); ++i)
        if (std::ranges::find(convolutions[i], target) != convolutions[i].end())
            return i + 1;
    return 0;
}

std::optional<Argument> argumentOf(const Node& node, std::string_view parameter) {
    const auto given = std::ranges::find(node.arguments, parameter, &NamedArgument::name);
    if (given != node.arguments.end())
        return given->value;
    const Operator* const known = findOperator(node.target);
    if (known == nullptr)
        return std::nullopt;
    for (std::string_view rest = known->parameters; !rest.empty();) {
        std::string_view value = takeUntil(rest, ' ');
        const bool hasDefault = value.find('=') != std::string_view::npos;
        if (takeUntil(value, '=') == parameter)
            return hasDefault ? std::optional(defaultOf(value)) : std::nullopt;
    }
    return std::nullopt;
}

} // namespace kernelskill::engine::graph
