/* The digits network on a bare Cortex-M3, from what `safetensors embed` makes of the model and of the images
   that it is tried on. Nothing else is linked but the compiler's arithmetic. */
#include <stddef.h>
#include <stdint.h>

#include "digits.h"
#include "held_out.h"

extern uint32_t stack_top;
int main(void);

/* ── the board ── */

static uint32_t semihosting(uint32_t operation, const void *argument) {
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

static void print(const char *text) {
    semihosting(0x04, text); /* SYS_WRITE0 */
}

static void print_number(unsigned number) {
    char digits[11] = {0};
    size_t at = sizeof digits - 1;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    print(digits + at);
}

static void stop(int good) {
    /* SYS_EXIT with ADP_Stopped_ApplicationExit is the exit code 0. */
    semihosting(0x18, (const void *)(uintptr_t)(good ? 0x20026 : 0x20023));
    for (;;) {
    }
}

static void reset(void) {
    stop(main());
}

__attribute__((section(".vectors"), used)) static const void *const vectors[] = {&stack_top,
                                                                                (const void *)reset};

/* ── the network ── */

static uint32_t bits(float value) {
    union {
        float value;
        uint32_t bits;
    } both;
    both.value = value;
    return both.bits;
}

static float dot(const float *row, const float *input, size_t len) {
    float sum = 0.0f;
    for (size_t i = 0; i < len; i++) {
        sum += row[i] * input[i];
    }
    return sum;
}

int main(void) {
    unsigned right = 0, same = 0;
    for (size_t image = 0; image < held_out_labels_LEN; image++) {
        float pixels[64], hidden[32], output[10];
        unsigned best = 0, equal = 0;
        for (size_t i = 0; i < 64; i++) {
            pixels[i] = (float)held_out_images[image][i] * 0.0625f + 0.0f;
        }
        for (size_t i = 0; i < 32; i++) {
            float value = dot(digits_fc1_weight[i], pixels, 64) + digits_fc1_bias[i];
            hidden[i] = value > 0.0f ? value : 0.0f;
        }
        for (unsigned i = 0; i < 10; i++) {
            output[i] = dot(digits_fc2_weight[i], hidden, 32) + digits_fc2_bias[i];
            equal += bits(output[i]) == bits(held_out_logits_f32[image][i]);
            best = output[i] > output[best] ? i : best;
        }
        right += best == held_out_labels[image];
        same += equal == 10;
    }
    print("classes ");
    print(digits_metadata_classes);
    print("\n");
    print_number(right);
    print(" of ");
    print_number(held_out_labels_LEN);
    print(" right, ");
    print_number(same);
    print(" outputs as in numpy\n");
    return right == 438 && same == held_out_labels_LEN && (uintptr_t)digits_fc1_weight % 16 == 0;
}
