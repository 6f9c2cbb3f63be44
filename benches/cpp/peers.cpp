// Peers in C++, for the benchmark to load: glaze and safetensors-cpp. ../README.md says how to build it.
//
// Every function reads the header of `input`, calls what the task is on it, and frees what it made. It
// returns whether the peer accepts the header. It sums up what it read if `found` is not null, which is
// to be compared with others, and not to be timed.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <glaze/json.hpp>
#include <safetensors.hh>

extern "C" {

struct Name {
  const char *start;
  size_t len;
};

struct Input {
  // The file up to the end of its header.
  const uint8_t *head;
  size_t head_len;
  const Name *names;
  size_t names_len;
};

struct Found {
  uint64_t tensors;
  // The sum of where tensors begin and end.
  uint64_t offsets;
};

}

// Not without a name, as glaze looks at the names of types.
namespace peers {

void add(Found *found, const std::array<size_t, 2> &offsets) {
  found->tensors += 1;
  found->offsets += offsets[0] + offsets[1];
}

// Keeps a value from being optimised away.
template <typename T> void keep(const T &value) { asm volatile("" : : "g"(&value) : "memory"); }

enum class Dtype {
  BOOL, F4, F6_E2M3, F6_E3M2, U8, I8, F8_E5M2, F8_E4M3, F8_E8M0, F8_E4M3FNUZ, F8_E5M2FNUZ,
  I16, U16, F16, BF16, I32, U32, F32, C64, F64, I64, U64,
};

struct Tensor {
  Dtype dtype;
  std::vector<uint64_t> shape;
  std::array<size_t, 2> data_offsets;
};

struct Header {
  std::unordered_map<std::string, std::string> metadata;
  std::unordered_map<std::string, Tensor> tensors;
};

} // namespace peers

template <> struct glz::meta<peers::Dtype> {
  using enum peers::Dtype;
  static constexpr auto value = glz::enumerate(
      BOOL, F4, F6_E2M3, F6_E3M2, U8, I8, F8_E5M2, F8_E4M3, F8_E8M0, F8_E4M3FNUZ, F8_E5M2FNUZ,
      I16, U16, F16, BF16, I32, U32, F32, C64, F64, I64, U64);
};

template <> struct glz::meta<peers::Header> {
  static constexpr auto value = glz::object("__metadata__", &peers::Header::metadata);
  static constexpr auto unknown_read{&peers::Header::tensors};
};

namespace peers {

bool read(const Input &input, Header &header) {
  // It lies in a file, and nothing is behind it that ends it.
  constexpr glz::opts options{.null_terminated = false, .error_on_unknown_keys = false};
  const auto json = reinterpret_cast<const char *>(input.head + 8);
  return !glz::read<options>(header, std::string_view(json, input.head_len - 8));
}

bool read(const Input &input, safetensors::safetensors_t &model) {
  std::string warning, error;
  return safetensors::mmap_from_memory(input.head, input.head_len, "", &model, &warning, &error);
}

} // namespace peers

using namespace peers;

extern "C" {

bool glaze_parse(const Input *input, Found *found) {
  Header header;
  if (!read(*input, header)) {
    return false;
  }
  if (found) {
    for (const auto &[name, tensor] : header.tensors) {
      add(found, tensor.data_offsets);
    }
  }
  keep(header);
  return true;
}

bool glaze_look_ups(const Input *input, Found *found) {
  Header header;
  if (!read(*input, header)) {
    return false;
  }
  for (size_t i = 0; i < input->names_len; i++) {
    const Name &name = input->names[i];
    const auto entry = header.tensors.find(std::string(name.start, name.len));
    if (entry == header.tensors.end()) {
      return false;
    }
    keep(entry->second);
    if (found) {
      add(found, entry->second.data_offsets);
    }
  }
  return true;
}

bool safetensors_cpp_parse(const Input *input, Found *found) {
  safetensors::safetensors_t model;
  if (!read(*input, model)) {
    return false;
  }
  if (found) {
    for (size_t i = 0; i < model.tensors.size(); i++) {
      safetensors::tensor_t tensor;
      model.tensors.at(i, &tensor);
      add(found, tensor.data_offsets);
    }
  }
  keep(model);
  return true;
}

bool safetensors_cpp_look_ups(const Input *input, Found *found) {
  safetensors::safetensors_t model;
  if (!read(*input, model)) {
    return false;
  }
  for (size_t i = 0; i < input->names_len; i++) {
    const Name &name = input->names[i];
    safetensors::tensor_t tensor;
    if (!model.tensors.at(std::string(name.start, name.len), &tensor)) {
      return false;
    }
    keep(tensor);
    if (found) {
      add(found, tensor.data_offsets);
    }
  }
  return true;
}

}
