/* Preloaded before libasound: faults as a driver would report them.
 *
 * The file named by $ALSA_FAULT holds the fault in force, and may change while a program runs:
 *   busy    another program has the device
 *   rate48  the device runs at 48000 Hz only
 *   stereo  the device takes two channels only
 *   unplug  the device is gone
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fault_is(const char *name) {
  char word[32] = {0};
  const char *path = getenv("ALSA_FAULT");
  FILE *file = path ? fopen(path, "r") : NULL;
  if (!file) return 0;
  size_t length = fread(word, 1, sizeof word - 1, file);
  fclose(file);
  return length > 0 && strcmp(word, name) == 0;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int snd_pcm_open(void **pcm, const char *name, int stream, int mode) {
  if (fault_is("busy")) return -EBUSY;
  if (fault_is("unplug")) return -ENODEV;
  return NEXT(snd_pcm_open)(pcm, name, stream, mode);
}

int snd_pcm_hw_params_test_rate(void *pcm, void *params, unsigned rate, int direction) {
  if (fault_is("rate48") && rate != 48000) return -EINVAL;
  return NEXT(snd_pcm_hw_params_test_rate)(pcm, params, rate, direction);
}

int snd_pcm_hw_params_set_rate(void *pcm, void *params, unsigned rate, int direction) {
  if (fault_is("rate48") && rate != 48000) return -EINVAL;
  return NEXT(snd_pcm_hw_params_set_rate)(pcm, params, rate, direction);
}

int snd_pcm_hw_params_set_rate_near(void *pcm, void *params, unsigned *rate, int *direction) {
  if (fault_is("rate48")) *rate = 48000;
  return NEXT(snd_pcm_hw_params_set_rate_near)(pcm, params, rate, direction);
}

int snd_pcm_hw_params_set_channels(void *pcm, void *params, unsigned channels) {
  if (fault_is("stereo") && channels != 2) return -EINVAL;
  return NEXT(snd_pcm_hw_params_set_channels)(pcm, params, channels);
}

int snd_pcm_hw_params_test_channels(void *pcm, void *params, unsigned channels) {
  if (fault_is("stereo") && channels != 2) return -EINVAL;
  return NEXT(snd_pcm_hw_params_test_channels)(pcm, params, channels);
}

int snd_pcm_hw_params_get_channels_min(const void *params, unsigned *channels) {
  int result = NEXT(snd_pcm_hw_params_get_channels_min)(params, channels);
  if (fault_is("stereo")) *channels = 2;
  return result;
}

long snd_pcm_avail_update(void *pcm) {
  if (fault_is("unplug")) return -ENODEV;
  return NEXT(snd_pcm_avail_update)(pcm);
}

long snd_pcm_writei(void *pcm, const void *buffer, unsigned long frames) {
  if (fault_is("unplug")) return -ENODEV;
  return NEXT(snd_pcm_writei)(pcm, buffer, frames);
}

int snd_pcm_poll_descriptors_revents(void *pcm, void *fds, unsigned count,
                                     unsigned short *revents) {
  if (fault_is("unplug")) return -ENODEV;
  return NEXT(snd_pcm_poll_descriptors_revents)(pcm, fds, count, revents);
}
